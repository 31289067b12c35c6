"""Figures of a validation, from its document: published against simulated, and regions of unpublished inputs."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from c4sim.report import style
from c4sim.report.markdown import value as shown
from c4sim.report.validation import Case, amount, published, tested

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

NAME = "published_and_simulated"
_ROW_IN, _FRAME_IN, _WIDTH_IN = 0.27, 1.3, 10.5
_LONGEST = 90
_WIDE, _NEAR = (0.15, 8.0), (0.9, 1.1)


def draw(document: Mapping[str, Any], folder: Path) -> None:
    """Save every figure of the document as PNG and SVG. Raises StorageError."""
    cases = [case for case in tested(document) if case["published"] is not None]
    regions = list(_regions(document))
    if not cases and not regions:
        return  # spares a run without figures the import of matplotlib
    with style.drawing():
        if cases:
            style.save(_ratios(cases), folder, NAME)
        for case in regions:
            style.save(_region(case), folder, f"region_{case['case'].replace('/', '_')}")


def _ratios(cases: Sequence[Case]) -> "Figure":
    """Simulated over published, a row a case: all of it, and near 1; the grey bar is what the rule allows."""
    figure = style.new_figure(_WIDTH_IN, _FRAME_IN + _ROW_IN * len(cases))
    wide, near = figure.subplots(1, 2, sharey=True)
    for place, case in enumerate(reversed(cases)):
        for axes, ends in ((wide, _WIDE), (near, _NEAR)):
            _row(axes, place, case, ends)
        _amounts(near, place, case)
    wide.set_xscale("log")
    ticks = (0.2, 0.5, 1.0, 2.0, 5.0)
    wide.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
    wide.minorticks_off()
    for axes, ends in ((wide, _WIDE), (near, _NEAR)):
        axes.set_xlim(*ends)
        axes.axvline(1.0, color=style.BLACK, linewidth=0.8)
        style.grid_on(axes, "x")
    wide.set_ylim(-0.7, len(cases) - 0.3)
    wide.set_yticks(range(len(cases)), [_label(case) for case in reversed(cases)], fontsize=7)
    figure.supxlabel("simulated / published (of a range: its middle)", fontsize=9)
    wide.set_title("all")
    near.set_title("near 1")
    _legend(figure)
    return figure


def _colour(case: Case) -> str:
    if not case["as_expected"]:
        return style.BLACK
    if case["expect"] != "hold":
        return style.VERMILION
    if case["rule"]["kind"] == "runs_reject":
        return style.PURPLE
    return style.BLUE if case["independent"] else style.SKY


def _row(axes: "Axes", place: int, case: Case, ends: tuple[float, float]) -> None:
    """One case in axes that go from `ends` to `ends`; a triangle at the edge stands for what lies beyond."""
    scale, low, high = _allowed(case)
    axes.barh(place, (high - low) / scale, left=low / scale, color=style.PALE, height=0.72)
    simulated, colour = case["simulated"], _colour(case)
    axes.plot([simulated["low"] / scale, simulated["high"] / scale], [place, place], color=colour, linewidth=2.0)
    ratio = simulated["mean"] / scale
    shown_at = min(max(ratio, ends[0]), ends[1])
    marker = "o" if shown_at == ratio else "<" if ratio < shown_at else ">"
    axes.plot(shown_at, place, marker, color=colour, markersize=4, clip_on=False)


def _amounts(axes: "Axes", place: int, case: Case) -> None:
    axes.annotate(
        f"{published(case)} / {amount(case, case['simulated']['mean'])}",
        (1.0, place),
        xycoords=("axes fraction", "data"),
        xytext=(8, 0),
        textcoords="offset points",
        va="center",
        fontsize=7,
    )


def _allowed(case: Case) -> tuple[float, float, float]:
    """(scale, lowest, highest): what a ratio is taken to, and the published value with its tolerance, or its range."""
    value = case["published"]
    if isinstance(value, Sequence):
        return (value[0] + value[1]) / 2.0, value[0], value[1]
    rule = case["rule"]
    room = max(rule.get("absolute", 0.0), rule.get("relative", 0.0) * abs(value))
    return value, value - room, value + room


def _label(case: Case) -> str:
    text = f"{case['cluster']}: {case['quantity']}"
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"


def _legend(figure: "Figure") -> None:
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    kinds = {
        "independent": style.BLUE,
        "mechanics only": style.SKY,
        "to be rejected": style.PURPLE,
        "known miss": style.VERMILION,
    }
    lines = [Line2D([], [], color=colour, marker="o", label=label) for label, colour in kinds.items()]
    room = Patch(color=style.PALE, label="published, with tolerance")
    title = "Published clusters: simulated over published, with intervals; at the right published / simulated"
    figure.legend(handles=[*lines, room], loc="outside upper center", ncols=5, fontsize=7, title=title)


def _regions(document: Mapping[str, Any]) -> Iterator[Case]:
    """Cases of rule `region` whose variants span exactly two keys."""
    for case in document["cases"]:
        if case["rule"]["kind"] == "region" and len(_axes_of(case)) == 2:
            yield case


def _axes_of(case: Case) -> dict[str, list[str]]:
    """Key -> its values in order, of the overrides that differ between the variants."""
    found: dict[str, list[str]] = {}
    for point in case["points"]:
        for text in point["overrides"]:
            key, _, given = text.partition("=")
            if given not in found.setdefault(key, []):
                found[key].append(given)
    return {key: values for key, values in found.items() if len(values) > 1}


def _region(case: Case) -> "Figure":
    (rows, row_values), (columns, column_values) = _axes_of(case).items()
    means = np.array([point["mean"] for point in case["points"]]).reshape(len(row_values), len(column_values))
    figure = style.new_figure(6.5, 4.5)
    axes = figure.subplots()
    reached = means >= case["published"]
    colours = np.where(reached[..., None], _rgb(style.GREEN), _rgb(style.PALE))
    axes.imshow(colours, origin="lower", aspect="auto", alpha=0.6)
    for (row, column), mean in np.ndenumerate(means):
        weight = "bold" if reached[row, column] else "normal"
        axes.text(column, row, amount(case, float(mean)), ha="center", va="center", fontsize=8, fontweight=weight)
    axes.set_xticks(range(len(column_values)), [shown(value) for value in column_values])
    axes.set_yticks(range(len(row_values)), [shown(value) for value in row_values])
    axes.set_xlabel(columns)
    axes.set_ylabel(rows)
    axes.set_title(f"{case['cluster']}: where {case['metric']} reaches {amount(case, case['published'])} (green)")
    axes.grid(visible=False)
    return figure


def _rgb(colour: str) -> tuple[float, float, float]:
    from matplotlib.colors import to_rgb

    return to_rgb(colour)
