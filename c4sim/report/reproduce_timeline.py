"""One simulated month as a calendar: a line per day, coloured by what the time went to."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from c4sim.report.style import PHASE_COLOURS, new_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Document = Mapping[str, Any]
DAY_S, HOUR_S = 86400.0, 3600.0
LABELS = {
    "productive": "kept work and saves",
    "lost_work": "work thrown away",
    "detection": "detection",
    "isolation": "diagnosis and isolation",
    "spare_wait": "waiting for a spare",
    "restart": "re-initialisation",
}


def timeline_figure(results: Document) -> "Figure":
    """The same replication in June and in December, day by day."""
    figure = new_figure(9.0, 5.4)
    timelines = results["timelines"]
    panels = figure.subplots(1, len(timelines), sharey=True)
    for axes, timeline in zip(panels, timelines, strict=True):
        _month(axes, timeline)
    panels[0].set_ylabel("day of the month")
    seen = {stretch["phase"] for timeline in timelines for stretch in timeline["stretches"]}
    for phase, label in LABELS.items():
        if phase in seen:
            panels[0].barh(1, 0, color=PHASE_COLOURS[phase], label=label)
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=3)
    return figure


def _month(axes: "Axes", timeline: Document) -> None:
    by_day: dict[tuple[int, str], list[tuple[float, float]]] = {}
    for stretch in timeline["stretches"]:
        for day, start, length in days(stretch["start_s"], stretch["end_s"]):
            by_day.setdefault((day, stretch["phase"]), []).append((start / HOUR_S, length / HOUR_S))
    for (day, phase), bars in by_day.items():
        axes.broken_barh(bars, (day + 0.6, 0.8), color=PHASE_COLOURS[phase], linewidth=0.0)
    axes.set_xlim(0.0, 24.0)
    axes.set_xticks(range(0, 25, 6))
    axes.set_ylim(30.6, 0.4)
    axes.grid(visible=False)
    axes.set_xlabel("hour of the day")
    lost = 100.0 * timeline["downtime"]
    axes.set_title(f"{timeline['scenario']}, simulated month {timeline['replication']}: {lost:.2f} % lost")


def days(start_s: float, end_s: float) -> Sequence[tuple[int, float, float]]:
    """A stretch cut at midnight: (day, start in the day, length), s."""
    parts = []
    while start_s < end_s:
        day = int(start_s // DAY_S)
        stop = min(end_s, (day + 1) * DAY_S)
        parts.append((day, start_s - day * DAY_S, stop - start_s))
        start_s = stop
    return parts
