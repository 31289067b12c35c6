"""Efficiency over the checkpoint interval: simulated points, closed form, and the intervals that have names."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from c4sim.report.style import BLACK, BLUE, VERMILION, drawing, grid_on, new_figure, save

_SIZE_IN = (7.0, 4.2)
_NAMED = (("exact_s", "exact", "-"), ("young_s", "Young", "--"), ("daly_s", "Daly", ":"))


def draw_interval_curve(document: Mapping[str, Any], folder: Path, name: str = "plan_checkpoint") -> None:
    """Draw what `CheckpointPlan.as_document()` holds as NAME.png and NAME.svg.

    Whiskers are 95 % intervals; the band is the flat region, within 1 % of the best. Minutes over per cent.
    """
    tried = document["intervals"]
    minutes = [entry["interval_s"] / 60.0 for entry in tried]
    with drawing():
        figure = new_figure(*_SIZE_IN)
        axes = figure.subplots()
        low, high = (end / 60.0 for end in document["flat_region_s"])
        axes.axvspan(low, high, color=BLUE, alpha=0.12, label="within 1 % of the best")
        closed = [(x, 100.0 * e["closed_form"]) for x, e in zip(minutes, tried, strict=True) if e["closed_form"]]
        if closed:
            axes.plot(*zip(*closed, strict=True), color=BLUE, linewidth=1.2, label="closed form")
        means = [100.0 * (entry["simulated"]["mean"] or 0.0) for entry in tried]
        ends = [[100.0 * (e["simulated"][end] or 0.0) for e in tried] for end in ("low", "high")]
        errors = [[abs(m - x) for m, x in zip(means, end, strict=True)] for end in ends]
        axes.errorbar(minutes, means, errors, fmt="o", color=VERMILION, markersize=4, capsize=2, label="simulated")
        for key, label, line in _NAMED:
            axes.axvline(document[key] / 60.0, color=BLACK, linestyle=line, linewidth=0.9, label=label)
        axes.set_xscale("log")
        axes.set_xlabel("work between saves, min")
        axes.set_ylabel("kept work, % of wall time")
        axes.legend(fontsize=8)
        grid_on(axes, "y")
        save(figure, folder, name)
