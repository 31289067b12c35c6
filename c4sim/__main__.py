"""`python -m c4sim` is `c4sim`."""

import sys

from c4sim.cli import main

if __name__ == "__main__":
    sys.exit(main())
