"""What a worker process does beside its work: it ends when its parent does."""

import multiprocessing
import os
import signal
import threading

ORPHANED = 70


def watch_parent() -> None:
    """Make this worker exit as soon as the process that started it is gone, however that process ended.

    A parent killed by SIGKILL cannot tell its workers; they would wait for the next chunk for ever. Ctrl-C reaches the
    whole process group: the parent alone answers it.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_exit_after_parent, name="parent-watch", daemon=True).start()


def _exit_after_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(ORPHANED)
