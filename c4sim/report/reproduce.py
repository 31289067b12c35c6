"""Figures, page and plain summary of a reproduction, from the files of its folder."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from c4sim.report import style
from c4sim.report.reproduce_bars import published_and_simulated, waterfall
from c4sim.report.reproduce_page import headline, levers_table, month_table, other_job_table, page
from c4sim.report.reproduce_sweeps import delay_figure, interval_figure, spares_figure
from c4sim.report.reproduce_timeline import timeline_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["FIGURES", "PAGE", "headline", "summary", "write_report"]

PAGE = "report.md"
FIGURES: Mapping[str, "Callable[[Mapping[str, Any]], Figure]"] = {
    "published_and_simulated": published_and_simulated,
    "levers": waterfall,
    "checkpoint_interval": interval_figure,
    "spares_per_pool": spares_figure,
    "detection_delay": delay_figure,
    "timeline": timeline_figure,
}


def write_report(folder: Path) -> None:
    """Draw the figures and write the page beside the results of a folder. Raises OSError, also as StorageError."""
    from c4sim.experiment.files import replace_text

    results = json.loads((folder / "results.json").read_text(encoding="utf-8"))
    with style.drawing():
        for name, draw in FIGURES.items():
            style.save(draw(results), folder, name)
    replace_text(folder / PAGE, page(results))


def summary(results: Mapping[str, Any]) -> Iterator[tuple[str, Sequence[str], Sequence[Sequence[str]]]]:
    """(title, header, rows) of the tables for a terminal, from the document of a reproduction."""
    for name, title in results["titles"].items():
        yield title, *month_table(results, name)
    yield "Another job: 4,096 GPUs", *other_job_table(results)
    yield "Who earned what (Shapley shares)", *levers_table(results)
