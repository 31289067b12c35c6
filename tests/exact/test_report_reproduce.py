"""Figures and page of the reproduction: the same bytes for the same data, labels with units, nothing hard-coded."""

import xml.etree.ElementTree as ElementTree
from pathlib import Path
from typing import Any

import matplotlib as mpl
import pytest
from reproduce_tools import document, document_text

from c4sim.report import style
from c4sim.report.markdown import fixed, markdown, percent, signed, span, time, value
from c4sim.report.reproduce import FIGURES, headline, summary, write_report
from c4sim.report.reproduce_page import page
from c4sim.report.reproduce_sweeps import enough_spares
from c4sim.report.reproduce_timeline import days


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with results and their report."""
    made = tmp_path_factory.mktemp("report")
    (made / "results.json").write_text(document_text())
    write_report(made)
    return made


def test_everything_is_there(folder: Path) -> None:
    figures = {f"{figure}.{kind}" for figure in FIGURES for kind in ("png", "svg")}
    assert {path.name for path in folder.iterdir()} == figures | {"results.json", "report.md"}
    assert (folder / "report.md").read_text() == page(document())


@pytest.mark.parametrize("name", ["published_and_simulated", "checkpoint_interval"])
def test_the_same_data_give_the_same_bytes(folder: Path, tmp_path: Path, name: str) -> None:
    with style.drawing():
        style.save(FIGURES[name](document()), tmp_path, name)
    for kind in ("png", "svg"):
        assert (folder / f"{name}.{kind}").read_bytes() == (tmp_path / f"{name}.{kind}").read_bytes()


@pytest.mark.parametrize("name", list(FIGURES))
def test_files_carry_no_time_stamp(folder: Path, name: str) -> None:
    drawn = (folder / f"{name}.svg").read_text()
    assert ElementTree.fromstring(drawn).tag.endswith("svg")
    assert "dc:date" not in drawn
    assert b"tEXt" not in (folder / f"{name}.png").read_bytes()


@pytest.mark.parametrize("name", list(FIGURES))
def test_axes_say_what_they_show(name: str) -> None:
    with style.drawing():
        figure = FIGURES[name](document())
        for number, axes in enumerate(figure.axes):
            assert axes.get_xlabel() or name in ("published_and_simulated", "levers")
            assert axes.get_ylabel() or (name == "timeline" and number > 0)
            assert axes.get_title(loc="left")
            assert axes.get_ylabel() in ("", "day of the month") or "%" in axes.get_ylabel()


def test_colours_are_those_of_okabe_and_ito() -> None:
    palette = {"#000000", "#E69F00", "#56B4E9", "#009E73", "#F0E442", "#0072B2", "#D55E00", "#CC79A7"}
    assert set(style.PHASE_COLOURS.values()) <= palette | {style.PALE}
    assert len(set(style.PHASE_COLOURS.values())) == len(style.PHASE_COLOURS)


def test_a_users_own_settings_are_back_afterwards() -> None:
    with mpl.rc_context({"font.size": 23.0}):
        with style.drawing():
            assert mpl.rcParams["font.size"] == 9.0
        assert mpl.rcParams["font.size"] == 23.0


def heights(results: dict[str, Any], bar: int) -> list[float]:
    """Heights of the parts of the bar of June at a place, bottom first."""
    with style.drawing():
        axes = FIGURES["published_and_simulated"](results).axes[0]
        found = [patch for patch in axes.patches if patch.get_height() > 0 and round(patch.get_center()[0]) == bar]
        return [patch.get_height() for patch in found]


def test_bars_are_the_published_and_the_simulated_shares() -> None:
    results = document()
    assert heights(results, 0) == pytest.approx([7.53, 3.41, 19.65, 0.60])
    table = {row["metric"]: row for row in results["tables"]["c4_june2023"]}
    phases = [f"downtime_fraction/{phase}" for phase in ("lost_work", "detection", "isolation", "restart")]
    assert heights(results, 1) == pytest.approx([100 * table[phase]["simulated"] for phase in phases])


def test_the_waterfall_ends_where_december_starts() -> None:
    results = document()
    with style.drawing():
        steps = FIGURES["levers"](results).axes[0].patches
        tops = [(patch.get_y(), patch.get_y() + patch.get_height()) for patch in steps]
    assert len(tops) == 6
    assert tops[0][0] == tops[-1][0] == 0.0
    assert [top for _, top in tops[1:]] == pytest.approx([tops[0][1], *(bottom for bottom, _ in tops[1:-1])])


def test_stretches_are_cut_at_midnight() -> None:
    hour = 3600.0
    assert days(20 * hour, 50 * hour) == [(0, 20 * hour, 4 * hour), (1, 0.0, 24 * hour), (2, 0.0, 2 * hour)]
    assert days(24 * hour, 25 * hour) == [(1, 0.0, hour)]


def test_enough_spares_is_read_off_the_sweep() -> None:
    def point(series: str, x: float, lost: float) -> dict[str, Any]:
        return {"series": series, "x": x, "downtime": {"value": lost}}

    points = [point("a", 0, 0.5), point("a", 1, 0.302), point("a", 2, 0.3), point("b", 0, 0.1), point("b", 1, 0.02)]
    results = {"sweeps": {"spares.per_pool": {"points": [*points, point("b", 2, 0.01)]}}}
    assert enough_spares(results) == 2
    results["sweeps"]["spares.per_pool"]["points"] = points[:3]
    assert enough_spares(results) == 1


def test_the_page_says_what_was_found() -> None:
    results = document()
    results["tables"]["c4_dec2023"][0]["simulated"] = 0.05678
    results["band"]["low"]["simulated"]["value"] = 0.01234
    text = page(results)
    assert "5.68 %, which was" in text
    assert "band from 1.23 to" in text
    assert text.count("\n| total | ") == 4
    assert "for\ncomparison only" in text
    for name in FIGURES:
        assert f"({name}.png)" in text


def test_the_terminal_gets_every_table_and_the_band() -> None:
    results = document()
    blocks = list(summary(results))
    assert len(blocks) == 6
    assert all(len(row) == len(header) for _, header, rows in blocks for row in rows)
    assert percent(results["band"]["width"]) in headline(results)


def test_numbers_for_people() -> None:
    assert (percent(0.31194), percent(None), fixed(-0.001, 2), fixed(-1.5, 1)) == ("31.19", "–", "0.00", "−1.5")
    assert (span(0.1, 0.25), span(None, 0.2)) == ("10.00 to 25.00", "–")
    assert (signed(0.0123), signed(-0.004)) == ("+1.23", "−0.40")
    assert [time(s) for s in (45, 100, 120, 5400, 43_200, 172_800)] == [
        "45 s",
        "100 s",
        "2 min",
        "1.5 h",
        "12 h",
        "2 d",
    ]
    assert [value(v) for v in ("7200.0s", "3600.0s per job", 0.825, "lognormal")] == [
        "2 h",
        "1 h per job",
        "0.825",
        "lognormal",
    ]
    assert markdown((("a", "b"), [("x|y", "1")])) == "| a | b |\n| :-- | --: |\n| x\\|y | 1 |"
