"""Sweeps: products, zips, listed points, ranges to the digit."""

from pathlib import Path

import pytest

from c4sim.configure import ConfigError, load_points


def swept(*overrides: str, **options: object) -> list[dict[str, str]]:
    return [point.swept for point in load_points(overrides, **options)]  # type: ignore[arg-type]


def test_product_moves_the_last_key_fastest() -> None:
    points = load_points(["job.nodes=8,16", "scenario=c4_june2023", "checkpoint.interval=10min,1h"])
    assert [point.swept for point in points] == [
        {"job.nodes": "8", "checkpoint.interval": "10min"},
        {"job.nodes": "8", "checkpoint.interval": "1h"},
        {"job.nodes": "16", "checkpoint.interval": "10min"},
        {"job.nodes": "16", "checkpoint.interval": "1h"},
    ]
    assert [point.index for point in points] == [0, 1, 2, 3]
    assert points[2].overrides == ("job.nodes=16", "scenario=c4_june2023", "checkpoint.interval=10min")
    assert points[2].scenario is not None
    assert (points[2].scenario.job.nodes, points[2].scenario.checkpoint.interval) == (16, 600.0)


def test_one_point_without_a_sweep() -> None:
    (point,) = load_points(["horizon=1d"])
    assert point.swept == {}
    assert point.scenario is not None
    assert point.scenario.name == "single_class"


def test_groups_sweep() -> None:
    points = load_points(["scenario=c4_june2023,c4_dec2023", "detection=glob(*d)"])
    assert [point.swept for point in points] == [
        {"scenario": "c4_june2023", "detection": "c4d"},
        {"scenario": "c4_dec2023", "detection": "c4d"},
    ]


def test_values_with_blanks_keep_their_text_and_parse_again() -> None:
    points = load_points(["faults.crash.rate=6.5 per 1000 node-days,'1 per job-month'"])
    assert [point.swept["faults.crash.rate"] for point in points] == ["6.5 per 1000 node-days", "1 per job-month"]
    for point in points:
        (again,) = load_points(point.overrides)
        assert again.scenario == point.scenario


def test_range_is_exact_in_decimals() -> None:
    """User code reads 0.30000000000000004 from Hydra's own range(.1,.5,.1)."""
    assert [p["checkpoint.corrupt"] for p in swept("checkpoint.corrupt=range(.1,.5,.1)")] == [
        "0.1",
        "0.2",
        "0.3",
        "0.4",
    ]
    assert [p["job.nodes"] for p in swept("job.nodes=range(10,4,-3)")] == ["10", "7"]


def test_zip() -> None:
    points = swept("job.nodes=128,512", "spares.per_pool=4,16", "horizon=1d", pairing="zip")
    assert points == [{"job.nodes": "128", "spares.per_pool": "4"}, {"job.nodes": "512", "spares.per_pool": "16"}]
    with pytest.raises(ConfigError, match=r"job\.nodes has 2, spares\.per_pool has 3"):
        load_points(["job.nodes=1,2", "spares.per_pool=1,2,3"], pairing="zip")


def test_repeated_values_are_points_of_their_own_and_bad_ones_hide_no_others() -> None:
    points = load_points(["job.nodes=1,-2,3,-2"])
    assert [point.scenario is None for point in points] == [False, True, False, True]
    assert str(points[1].problems[0]).startswith("job.nodes:")


def test_a_mistake_of_every_point_is_one_problem() -> None:
    with pytest.raises(ConfigError) as caught:
        load_points(["job.nodes=1,2,3", "checkpoint.intervall=1h"])
    assert [problem.path for problem in caught.value.problems] == ["checkpoint.intervall"]


def test_too_many_points() -> None:
    with pytest.raises(ConfigError, match="more than"):
        load_points(["job.nodes=range(1,1000)", "spares.per_pool=range(1,1000)"])


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_listed_points(here: Path) -> None:
    (here / "points.csv").write_text(
        "# three points\njob.nodes, faults.crash.mtbf, isolation.delay\n"
        '8, 12h per job, 5min\n16, , "{law: lognormal, mean: 1h, cv: 2}"\n32,1h per node,1h\n'
    )
    points = load_points(["horizon=1d"], points_file="points.csv")
    assert [point.swept.get("job.nodes") for point in points] == ["8", "16", "32"]
    assert "faults.crash.mtbf" not in points[1].swept
    assert points[1].scenario is not None
    assert points[1].scenario.isolation.delay.cv == 2.0
    assert [point.index for point in points] == [0, 1, 2]


def test_listed_points_with_a_sweep(here: Path) -> None:
    (here / "points.csv").write_text("job.nodes\n8\n16\n")
    points = load_points(["spares.per_pool=0,1"], points_file="points.csv")
    assert [tuple(point.swept.values()) for point in points] == [("0", "8"), ("1", "8"), ("0", "16"), ("1", "16")]


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("", "is empty"),
        ("job.nodes\n", "no points"),
        ("job.nodes,horizon\n1\n", "row 1 has 1 cells"),
        ('job.nodes\n"1,2"\n', "-m"),
    ],
)
def test_points_files_that_are_refused(here: Path, content: str, words: str) -> None:
    (here / "points.csv").write_text(content)
    with pytest.raises(ConfigError, match=words):
        load_points([], points_file="points.csv")


def test_points_file_outside(here: Path) -> None:
    for name in ("/etc/passwd", "../points.csv", "/dev/zero"):
        with pytest.raises(ConfigError, match="outside"):
            load_points([], points_file=name)
