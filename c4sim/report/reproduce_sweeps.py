"""The three sweeps of the reproduction: checkpoint interval, spares per pool, detection delay."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from c4sim.report.style import BLACK, BLUE, GREEN, GREY, VERMILION, new_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Document = Mapping[str, Any]
COLOURS = (BLUE, VERMILION, GREEN)
_SMALL: Mapping[str, Any] = {"fontsize": 8, "color": GREY, "ha": "right", "va": "center"}
ENOUGH = 0.0025  # a quarter of a point
_MARKS = {"young_s": ("v", "Young"), "daly_s": ("D", "Daly"), "exact_s": ("*", "exact")}
_INTERVAL_TICKS = {300: "5 min", 600: "10 min", 1800: "30 min", 3600: "1 h", 7200: "2 h", 21600: "6 h"}
_DELAY_TICKS = {10: "10 s", 60: "1 min", 300: "5 min", 1800: "30 min", 3600: "1 h"}


def interval_figure(results: Document) -> "Figure":
    """Lost time over the checkpoint interval at three write times, closed form drawn through, best intervals marked."""
    figure = new_figure(7.5, 4.6)
    axes = figure.subplots()
    sweep = results["sweeps"]["checkpoint.interval"]
    for colour, (series, curve) in zip(COLOURS, sweep["curves"].items(), strict=True):
        axes.plot(*_percent(curve), color=colour, linewidth=1.4)
        _points(axes, [point for point in sweep["points"] if point["series"] == series], colour, series)
    _mark_optima(axes, results["optima"])
    axes.plot([], [], color=GREY, label="closed form")
    low, high = axes.get_ylim()
    axes.set_ylim(low - 0.35 * (high - low), high)
    _time_axis(axes, _INTERVAL_TICKS, "checkpoint interval (work between saves)")
    axes.set_ylabel("lost and stalled, % of wall time")
    axes.set_title("Saving more often pays until the writes cost more: June 2023")
    axes.legend(loc="upper center", title="simulated (95 % interval of the mean)")
    return figure


def _mark_optima(axes: "Axes", optima: Sequence[Document]) -> None:
    """Best intervals in the strip below the curves, a line for each formula."""
    strip = axes.get_xaxis_transform()
    for level, (key, (marker, name)) in enumerate(_MARKS.items()):
        height = 0.05 + 0.05 * level
        for colour, optimum in zip(COLOURS, optima, strict=True):
            axes.plot(optimum[key], height, marker, color=colour, markersize=7, transform=strip)
        axes.annotate(f"best interval: {name}", (0.97, height), None, "axes fraction", **_SMALL)


def spares_figure(results: Document) -> "Figure":
    """Lost time over spares per pool, for both months."""
    figure = new_figure(6.5, 4.2)
    axes = figure.subplots()
    points = results["sweeps"]["spares.per_pool"]["points"]
    for colour, series in zip(COLOURS, dict.fromkeys(point["series"] for point in points), strict=False):
        mine = [point for point in points if point["series"] == series]
        axes.plot([point["x"] for point in mine], [100.0 * point["downtime"]["value"] for point in mine], color=colour)
        _points(axes, mine, colour, series, of="downtime")
    axes.set_xlabel("spare nodes per pool")
    axes.set_ylabel("share of wall time lost, %")
    axes.set_ylim(bottom=0.0)
    axes.set_title(f"{enough_spares(results)} spares a pool are enough")
    axes.legend(title="simulated (95 % interval of the mean)")
    return figure


def enough_spares(results: Document) -> int:
    """Fewest spares per pool with which every month loses less than ENOUGH more than with the most that were tried."""
    points = results["sweeps"]["spares.per_pool"]["points"]
    least = {point["series"]: point["downtime"]["value"] for point in points}  # the last one of a series counts
    short = [point["x"] for point in points if point["downtime"]["value"] - least[point["series"]] >= ENOUGH]
    tried = sorted({point["x"] for point in points})
    return int(next(x for x in tried if x > max(short, default=-1.0)))


def delay_figure(results: Document) -> "Figure":
    """Lost time over the detection delay, closed form drawn through."""
    figure = new_figure(6.5, 4.2)
    axes = figure.subplots()
    sweep = results["sweeps"]["detection.delay"]
    for colour, (series, curve) in zip(COLOURS, sweep["curves"].items(), strict=False):
        axes.plot(*_percent(curve), color=GREY, label="closed form")
        _points(axes, sweep["points"], colour, f"simulated, {series}")
    _time_axis(axes, _DELAY_TICKS, "detection delay")
    axes.set_ylabel("lost and stalled, % of wall time")
    axes.set_ymargin(0.25)
    axes.set_title("What a slow detection costs: June 2023")
    axes.legend(loc="upper left", title="bars: 95 % interval of the mean")
    return figure


def _points(axes: "Axes", points: Sequence[Document], colour: str, label: str, of: str = "lost") -> None:
    found = [point[of] for point in points]
    half = [100.0 * ((value["high"] or value["value"]) - value["value"]) for value in found]
    axes.errorbar(
        [point["x"] for point in points],
        [100.0 * value["value"] for value in found],
        half,
        fmt="o",
        markersize=4,
        color=colour,
        ecolor=BLACK,
        elinewidth=0.8,
        capsize=2,
        label=label,
    )


def _percent(curve: Sequence[Sequence[float]]) -> tuple[list[float], list[float]]:
    return [x for x, _ in curve], [100.0 * lost for _, lost in curve]


def _time_axis(axes: "Axes", ticks: Mapping[int, str], label: str) -> None:
    axes.set_xscale("log")
    axes.set_xticks(list(ticks), list(ticks.values()))
    axes.minorticks_off()
    axes.set_xlabel(label)
