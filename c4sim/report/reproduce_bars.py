"""Two figures of the reproduction: published against simulated shares, and what each lever earned."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from c4sim.report.style import BLACK, GREY, PHASE_COLOURS, SKY, VERMILION, grid_on, new_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Document = Mapping[str, Any]
Span = tuple[float, float]
PHASES = {
    "lost_work": "work since the last checkpoint",
    "detection": "detection",
    "isolation": "diagnosis and isolation",
    "restart": "re-initialisation",
}
_UNSPLIT = "not split in the record"
_HEADROOM = 1.08
_LABEL_FROM = 0.035  # a part of at least this share of the axis has room for its number


def published_and_simulated(results: Document) -> "Figure":
    """Stacked bars of the lost share of wall time by phase: June and December, each with its own scale."""
    figure = new_figure(9.0, 4.6)
    june, december = figure.subplots(1, 2)
    tables = results["tables"]
    operating, calendar = tables["c4_june2023"], tables["c4_june2023_calendar"]
    months = [_month(operating), _month(calendar)]
    _panel(june, "June 2023", operating, calendar, months, "bars: 95 % of\nsingle months")
    operating, calendar = tables["c4_dec2023"], tables["c4_dec2023_calendar"]
    low, high = (100.0 * results["band"][end]["simulated"]["value"] for end in ("low", "high"))
    note = "bar: band over the\nassumed ranges"
    _panel(december, "December 2023: predicted", operating, calendar, [(low, high), None], note)
    handles, labels = december.get_legend_handles_labels()
    figure.legend(handles[::-1], labels[::-1], loc="outside lower center", ncols=3)
    return figure


def _panel(
    axes: "Axes",
    title: str,
    operating: Sequence[Document],
    calendar: Sequence[Document],
    spans: Sequence[Span | None],
    note: str,
) -> None:
    bars = {
        "published": _published(operating),
        "simulated": _simulated(operating),
        "simulated,\ncalendar reading": _simulated(calendar),
    }
    tops = [sum(parts.values()) for parts in bars.values()] + [span[1] for span in spans if span is not None]
    top = _HEADROOM * max(tops)
    for place, parts in enumerate(bars.values()):
        _stack(axes, place, parts, _LABEL_FROM * top)
    for place, span in enumerate(spans, start=1):
        if span is not None:
            middle, half = (span[0] + span[1]) / 2, (span[1] - span[0]) / 2
            axes.errorbar(place + 0.22, middle, half, color=BLACK, capsize=4, linewidth=1.0)
    for name in (*PHASES, _UNSPLIT):
        axes.bar(0, 0, color=PHASE_COLOURS.get(name, GREY), label=PHASES.get(name, name))
    axes.annotate(note, (1.29, spans[0][1] if spans[0] else top), fontsize=8, color=GREY, ha="left", va="top")
    axes.set_title(title)
    axes.set_ylabel("share of wall time lost, %")
    axes.set_xticks(range(len(bars)), list(bars))
    axes.set_ylim(0.0, top)
    grid_on(axes, "y")


def _rows(table: Sequence[Document]) -> dict[str, Document]:
    return {row["metric"]: row for row in table}


def _published(table: Sequence[Document]) -> dict[str, float]:
    """Published shares, %; what the record does not split stands as one part."""
    rows = _rows(table)
    parts = {phase: rows[f"downtime_fraction/{phase}"]["published"] for phase in PHASES}
    known = {phase: 100.0 * share for phase, share in parts.items() if share is not None}
    rest = 100.0 * rows["downtime_fraction"]["published"] - sum(known.values())
    return known if len(known) == len(PHASES) else known | {_UNSPLIT: rest}


def _simulated(table: Sequence[Document]) -> dict[str, float]:
    rows = _rows(table)
    return {phase: 100.0 * rows[f"downtime_fraction/{phase}"]["simulated"] for phase in PHASES}


def _month(table: Sequence[Document]) -> Span:
    total = _rows(table)["downtime_fraction"]
    return 100.0 * total["month_low"], 100.0 * total["month_high"]


def _stack(axes: "Axes", place: int, parts: Mapping[str, float], label_from: float) -> None:
    bottom = 0.0
    for name, height in parts.items():
        colour = PHASE_COLOURS.get(name, GREY)
        axes.bar(place, height, 0.62, bottom, color=colour, edgecolor="white", linewidth=0.8)
        if height > label_from:
            middle = (place - 0.08, bottom + height / 2)
            axes.annotate(f"{height:.2f}", middle, ha="center", va="center", color="white", fontsize=8)
        bottom += height
    text = f"{bottom:.2f}"
    axes.annotate(text, (place - 0.08, bottom), (0, 3), textcoords="offset points", ha="center", weight="bold")


def waterfall(results: Document) -> "Figure":
    """From June to December by the Shapley shares of the levers, largest first."""
    figure = new_figure(7.5, 4.2)
    axes = figure.subplots()
    levers = sorted(results["levers"]["levers"], key=lambda lever: -lever["shapley"]["value"])
    totals = {tuple(entry["pulled"]): entry["downtime"]["value"] for entry in results["levers"]["totals"]}
    before = 100.0 * totals[()]
    after = before - 100.0 * results["levers"]["gain"]["value"]
    _step(axes, 0, 0.0, before, SKY, f"{before:.2f} %")
    level = before
    for place, lever in enumerate(levers, start=1):
        fall = 100.0 * lever["shapley"]["value"]
        _step(axes, place, level - fall, fall, VERMILION, f"−{fall:.1f} pp\n{100 * lever['part']:.0f} % of the gain")
        half = 100.0 * (lever["shapley"]["high"] or lever["shapley"]["value"]) - fall
        axes.errorbar(place, level - fall, half, color=BLACK, capsize=3, linewidth=1.0)
        axes.plot([place - 0.7, place + 0.3], [level, level], color=GREY, linewidth=0.8)
        level -= fall
    _step(axes, len(levers) + 1, 0.0, after, SKY, f"{after:.2f} %")
    axes.set_xticks(range(len(levers) + 2), ["June 2023", *(lever["name"] for lever in levers), "December 2023"])
    axes.set_ylabel("share of wall time lost, %")
    axes.set_ylim(0.0, 1.18 * before)
    axes.set_title("What each lever earned (Shapley shares; bars: 95 % interval of the mean)")
    grid_on(axes, "y")
    return figure


def _step(axes: "Axes", place: int, bottom: float, height: float, colour: str, text: str) -> None:
    axes.bar(place, height, 0.6, bottom, color=colour)
    axes.annotate(text, (place, bottom + height), (0, 3), textcoords="offset points", ha="center", fontsize=8)
