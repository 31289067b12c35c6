"""Published figures beside simulated ones: June and December by phase and cause, and the job on 4,096 GPUs."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from c4sim.estimate import Estimate, ratio_of_sums
from c4sim.experiment.result import Result
from c4sim.experiment.tables import FloatArray
from c4sim.studies import reproduce_record as record
from c4sim.studies.reproduce_batch import values

MONTH_LEVEL = 0.95
STALL = "checkpoint_stall_fraction"


@dataclass(frozen=True)
class Row:
    """One line: a metric, what was published (None: not in the record), what was simulated.

    low, high: 95 % interval of the mean; None with one replication. month_low, month_high: 95 % of single months lie
    between them. ratio: simulated over published. sd: of one month.
    """

    metric: str
    label: str
    published: float | None
    simulated: float
    low: float | None
    high: float | None
    month_low: float
    month_high: float
    sd: float | None
    ratio: float | None


def month_rows(result: Result, month: record.Month) -> tuple[Row, ...]:
    """The table of one month: total, phases, causes under isolation, waiting for spares, and the stall of saves."""
    return tuple(_row(result, *entry) for entry in _entries(month))


def _entries(month: record.Month) -> Iterator[tuple[str, str, float | None]]:
    yield "downtime_fraction", "total", month.total
    for phase, label in record.ROWS.items():
        yield f"downtime_fraction/{phase}", label, month.phases[phase]
        if phase == "isolation":
            for cause, name in record.CAUSES.items():
                yield f"downtime_fraction/isolation/{cause}", f"- {name}", month.isolation[cause]
    yield "downtime_fraction/spare_wait", "waiting for a spare", None
    yield STALL, "beside it: stall of saves", None


def other_job_rows(result: Result) -> tuple[Row, ...]:
    """The job on 4,096 GPUs: deaths a month, each cause's share of them, the share confined to one node."""
    shares = [
        _share(result, f"failures/{cause}", f"share of {name}", record.CAUSES_4096[cause])
        for cause, name in record.CAUSES.items()
    ]
    return (
        _row(result, "failures", "deaths in a month", float(record.DEATHS_4096)),
        *shares,
        _row(result, "confined_share", "confined to one node", record.CONFINED_4096),
    )


def _row(result: Result, metric: str, label: str, published: float | None) -> Row:
    value = result.metrics[metric]
    top, bottom = result.totals.parts(result.kernel.definitions(result.scenario)[metric])
    estimate = Estimate(value.mean or 0.0, value.low, value.high, result.n)
    return _line(metric, label, published, estimate, _months(top, bottom))


def _share(result: Result, column: str, label: str, published: float) -> Row:
    """A class's share of all failures."""
    top, bottom = result.totals.column(column), result.totals.column("failures")
    found = ratio_of_sums(top, bottom)
    assert found is not None
    return _line(f"{column} / failures", label, published, found, _months(top, bottom))


def _months(top: FloatArray, bottom: FloatArray) -> FloatArray:
    """Each month's own ratio; not a number in a month without a failure to divide by."""
    return np.where(bottom > 0.0, top / np.where(bottom > 0.0, bottom, 1.0), np.nan)


def _line(metric: str, label: str, published: float | None, simulated: Estimate, months: FloatArray) -> Row:
    tail = (1.0 - MONTH_LEVEL) / 2.0
    low, high = np.nanquantile(months, [tail, 1.0 - tail])
    return Row(
        metric=metric,
        label=label,
        published=published,
        simulated=simulated.value,
        low=simulated.low,
        high=simulated.high,
        month_low=float(low),
        month_high=float(high),
        sd=float(np.nanstd(months, ddof=1)) if len(months) > 1 else None,
        ratio=simulated.value / published if published else None,
    )


def lost_work_fall(june: Result, december: Result) -> Estimate:
    """How many times less work December throws away than June, with the interval of that ratio of means."""
    metric = "downtime_fraction/lost_work"
    pairs = min(june.n, december.n)
    found = ratio_of_sums(values(june, metric)[:pairs], values(december, metric)[:pairs])
    assert found is not None
    return found
