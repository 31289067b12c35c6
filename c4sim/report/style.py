"""How every figure looks, and how it is saved so that the same data give the same bytes.

Colours: Okabe and Ito, Color Universal Design (2008), told apart with every common colour vision.
"""

import contextlib
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

BLACK, ORANGE, SKY, GREEN = "#000000", "#E69F00", "#56B4E9", "#009E73"
YELLOW, BLUE, VERMILION, PURPLE = "#F0E442", "#0072B2", "#D55E00", "#CC79A7"
GREY, PALE = "#7F7F7F", "#DDDDDD"

PHASE_COLOURS = {
    "lost_work": VERMILION,
    "detection": ORANGE,
    "isolation": BLUE,
    "spare_wait": PURPLE,
    "restart": GREEN,
    "productive": PALE,
}
DOTS_PER_INCH = 150
_SETTINGS: dict[str, Any] = {
    "font.family": "DejaVu Sans",
    "font.size": 9.0,
    "axes.titlesize": 10.0,
    "axes.titlelocation": "left",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "axes.grid": True,
    "grid.color": "#E6E6E6",
    "legend.frameon": False,
    "figure.dpi": 100.0,
    "savefig.facecolor": "white",
    "svg.hashsalt": "c4sim",
    "svg.fonttype": "none",
}


@contextlib.contextmanager
def drawing() -> Iterator[None]:
    """Settings of all figures; the user's own are back afterwards."""
    import matplotlib as mpl

    with mpl.rc_context():
        mpl.rcdefaults()
        parameters: Any = mpl.rcParams
        parameters.update(_SETTINGS)
        yield


def new_figure(width_in: float, height_in: float) -> "Figure":
    """A figure that belongs to no window and needs no display."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width_in, height_in), layout="constrained")
    FigureCanvasAgg(figure)
    return figure


def save(figure: "Figure", folder: Path, name: str) -> None:
    """Save as NAME.png and NAME.svg without time stamps. Call within `drawing`. Raises StorageError."""
    from c4sim.experiment.files import make_folder, replace

    make_folder(folder)
    for kind, empty in (("png", ("Software",)), ("svg", ("Date", "Creator"))):
        metadata = dict.fromkeys(empty)
        write = partial(figure.savefig, format=kind, dpi=DOTS_PER_INCH, metadata=metadata)
        replace(folder / f"{name}.{kind}", write)


def grid_on(axes: "Axes", direction: str) -> None:
    """Grid lines across one axis only."""
    axes.grid(visible=False)
    axes.grid(visible=True, axis=direction)  # type: ignore[arg-type]
