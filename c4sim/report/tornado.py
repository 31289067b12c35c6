"""The tornado of a sensitivity study: one bar an input, widest on top."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from c4sim.report.style import BLACK, BLUE, VERMILION, drawing, grid_on, new_figure, save

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SHOWN = 15
_ROW_IN, _FRAME_IN, _WIDTH_IN = 0.36, 1.3, 7.5


def draw_tornado(document: Mapping[str, Any], folder: Path, name: str = "tornado") -> None:
    """Draw what `Sensitivity.as_document()` holds as NAME.png and NAME.svg: at most the first 15 inputs.

    Bars go from the base to what the metric is at either end of the range; whiskers are 95 % intervals of the paired
    differences. Shares are drawn in percentage points.
    """
    inputs = document["inputs"][:SHOWN]
    base = document["base"]
    scale, unit = (100.0, "percentage points") if base["unit"] == "1" else (1.0, base["unit"])
    with drawing():
        figure = new_figure(_WIDTH_IN, _FRAME_IN + _ROW_IN * len(inputs))
        axes = figure.subplots()
        for place, entry in enumerate(reversed(inputs)):
            ends = (entry["at_low"]["difference"], "low"), (entry["at_high"]["difference"], "high")
            for (_, end), side in zip(sorted(ends), (-1, 1), strict=True):
                _bar(axes, place, entry, end, side, scale)
        axes.set_yticks(range(len(inputs)), [entry["name"] for entry in reversed(inputs)])
        axes.axvline(0.0, color=BLACK, linewidth=0.8)
        axes.set_xlabel(f"change of {document['metric']}, {unit}")
        mean = base["mean"]
        at = "undefined" if mean is None else f"{scale * mean:.4g}{' %' if scale > 1.0 else ' ' + unit}"
        axes.set_title(f"{document['scenario']}: {document['metric']} is {at} at the base")
        grid_on(axes, "x")
        save(figure, folder, name)


def _bar(axes: "Axes", place: int, entry: Mapping[str, Any], end: str, side: int, scale: float) -> None:
    """One end's bar; its value stands to the left (side -1) or right (1), so that the two never overlap."""
    found, colour = entry[f"at_{end}"], BLUE if end == "low" else VERMILION
    width = scale * found["difference"]
    axes.barh(place, width, color=colour, height=0.6)
    if found["low"] is not None:
        axes.plot([scale * found["low"], scale * found["high"]], [place, place], color=BLACK, linewidth=0.9)
    axes.annotate(
        str(entry[end]),
        (min(width, 0.0) if side < 0 else max(width, 0.0), place),
        xytext=(4 * side, 7),
        textcoords="offset points",
        ha="right" if side < 0 else "left",
        va="center",
        fontsize=7,
        color=colour,
    )
