"""The report of the reproduction as a Markdown page and as tables, from results.json alone."""

from collections.abc import Mapping, Sequence
from typing import Any

from c4sim.report import calibrate_page
from c4sim.report.markdown import Table, fixed, markdown, percent, signed, span, time, value
from c4sim.report.pages import render
from c4sim.studies.reproduce_record import DECEMBER_SECONDARY, ROWS

Document = Mapping[str, Any]
_HEADER = ("published", "simulated", "95 % of the mean", "95 % of one month", "ratio")


def page(results: Document) -> str:
    """The whole page."""
    content = {
        "seed": results["seed"],
        "counts": results["replications"],
        "june": _month(results, "c4_june2023"),
        "december": _month(results, "c4_dec2023"),
        "band": _band(results["band"]),
        "fall": _times(results["lost_work_fall"]),
        "secondary": markdown(_secondary(results)),
        "readings": {
            results["titles"][name]: markdown(month_table(results, name))
            for name in ("c4_june2023_calendar", "c4_dec2023_calendar")
        },
        "other_job": markdown(other_job_table(results)),
        "gain": percent(results["levers"]["gain"]["value"]),
        "levers": markdown(levers_table(results)),
        "optima": markdown(_optima(results)),
        "others": markdown(_others(results)),
        "timeline": results["timelines"][0]["replication"],
        "calibration": calibrate_page.page(results["calibration"]),
    }
    return render("reproduce.md.j2", content)


def month_table(results: Document, name: str) -> Table:
    """One month, shares in per cent."""
    rows = [
        (
            row["label"],
            percent(row["published"]),
            percent(row["simulated"]),
            span(row["low"], row["high"]),
            span(row["month_low"], row["month_high"]),
            fixed(row["ratio"], 3),
        )
        for row in results["tables"][name]
    ]
    return ("% of wall time", *_HEADER), rows


def other_job_table(results: Document) -> Table:
    """The job on 4,096 GPUs: deaths as a count, shares in per cent."""
    lines = []
    for row in results["tables"]["c4_4096"]:
        scale = 1.0 if row["metric"] == "failures" else 100.0
        numbers = [fixed(scale * row[name], 2) for name in ("published", "simulated")]
        spans = [span(row["low"], row["high"], scale), span(row["month_low"], row["month_high"], scale, 1)]
        lines.append((row["label"] + (", %" if scale > 1.0 else ""), *numbers, *spans, fixed(row["ratio"], 3)))
    return ("", *_HEADER), lines


def levers_table(results: Document) -> Table:
    """What each lever earned, in percentage points."""
    rows = [
        (
            lever["name"],
            percent(lever["shapley"]["value"]),
            span(lever["shapley"]["low"], lever["shapley"]["high"]),
            percent(lever["part"], 0),
            percent(lever["first"]["value"]),
            percent(lever["last"]["value"]),
        )
        for lever in results["levers"]["levers"]
    ]
    return ("lever", "earned, points", "95 % of the mean", "% of the gain", "if pulled alone", "if pulled last"), rows


def headline(results: Document) -> str:
    """December's band, its width, and how far the lost work fell."""
    band = results["band"]
    low, high = (percent(band[end]["simulated"]["value"]) for end in ("low", "high"))
    width = percent(band["width"])
    fall = _times(results["lost_work_fall"])
    return f"December's band over the assumed ranges: {low} to {high} %, {width} points wide. Lost work fell {fall}."


def _month(results: Document, name: str) -> dict[str, str]:
    total = _row(results["tables"][name], "downtime_fraction")
    closed = results["calibration"]["expected"][name]
    return {
        "published": percent(total["published"]),
        "simulated": percent(total["simulated"]),
        "sd": percent(total["sd"]),
        "closed": percent(closed["total"]),
        "closed_sd": percent(closed["sd"]),
        "deficit": percent(closed["deficit"], 3),
        "table": markdown(month_table(results, name)),
    }


def _row(rows: Sequence[Document], metric: str) -> Document:
    return next(row for row in rows if row["metric"] == metric)


def _band(band: Document) -> dict[str, Any]:
    low, high = band["low"], band["high"]
    ends = [(name, value(low["ends"][name]), value(high["ends"][name])) for name in low["ends"]]
    effects = [
        (found["name"], value(found["low"]), value(found["high"]), signed(found["difference"]["value"]))
        for found in band["effects"]
    ]
    return {
        "low": percent(low["simulated"]["value"]),
        "high": percent(high["simulated"]["value"]),
        "low_interval": span(low["simulated"]["low"], low["simulated"]["high"]),
        "high_interval": span(high["simulated"]["low"], high["simulated"]["high"]),
        "width": percent(band["width"]),
        "corners": len(band["corners"]),
        "ends": markdown((("assumed input", "lowest corner", "highest corner"), ends)),
        "effects": markdown((("assumed input", "low end", "high end", "difference, points"), effects)),
    }


def _times(fall: Document) -> str:
    return f"{fixed(fall['value'], 1)} times ({span(fall['low'], fall['high'], 1.0, 1)})"


def _secondary(results: Document) -> Table:
    simulated = {row["metric"]: row["simulated"] for row in results["tables"]["c4_dec2023"]}
    rows = [
        (ROWS[phase], percent(share), percent(simulated[f"downtime_fraction/{phase}"]))
        for phase, share in DECEMBER_SECONDARY.items()
    ]
    return ("% of wall time", "quoted elsewhere", "simulated"), rows


def _optima(results: Document) -> Table:
    rows = [
        (
            time(best["write_s"]),
            *(time(best[f"{name}_s"]) for name in ("young", "daly", "exact")),
            percent(best["lost"]),
        )
        for best in results["optima"]
    ]
    return ("write", "Young", "Daly", "exact optimum", "lost and stalled there, %"), rows


def _others(results: Document) -> Table:
    rows = [
        (
            other["assumption"],
            other["month"],
            percent(other["downtime"]["value"]),
            signed(other["difference"]["value"], 3),
            span(other["difference"]["low"], other["difference"]["high"], digits=3),
        )
        for other in results["others"]
    ]
    return ("assumption", "month", "total, %", "difference, points", "95 % of the difference"), rows
