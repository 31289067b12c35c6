"""The tornado is drawn, the same bytes from the same study."""

from pathlib import Path

import experiment_fakes as fakes

from c4sim.report.tornado import draw_tornado
from c4sim.scenario import Scenario
from c4sim.studies.sensitivity import sensitivity


def test_the_figure_names_inputs_and_ends(tmp_path: Path) -> None:
    ranges = {"checkpoint.interval": ("30min", "2h"), "repair.duration": ("1d", "9d")}
    for replications in (20, 1):
        document = sensitivity(Scenario(), ranges, replications=replications, kernel=fakes.FAST).as_document()
        for name in ("first", "again"):
            draw_tornado(document, tmp_path, name)
        svg = (tmp_path / "first.svg").read_text()
        for text in ("checkpoint.interval", "repair.duration", "30min", "2h", "percentage points", "single_class"):
            assert text in svg
        for suffix in ("svg", "png"):
            assert (tmp_path / f"first.{suffix}").read_bytes() == (tmp_path / f"again.{suffix}").read_bytes()
