"""Progress in a log: a line now and then, with rate and time left."""

import io

import pytest

from c4sim.experiment import progress


def test_a_line_says_rate_and_time_left() -> None:
    clock = iter([0.0, 4.0, 10.0, 12.0, 20.0])
    stream = io.StringIO()
    lines = progress.Lines("sweep", stream, clock=lambda: next(clock))
    # 100 were there from an earlier run: the rate counts what this one did.
    for done in (100, 150, 160, 200):
        lines.update(done, 1000, 1 if done == 200 else 0)
    assert stream.getvalue().splitlines() == [
        "sweep: 150 of 1000 replications (15 %), 5/s, 170 s left",
        "sweep: 200 of 1000 replications (20 %), 5/s, 160 s left, 1 points failed",
    ]


def test_without_a_terminal_there_are_lines(capsys: pytest.CaptureFixture[str]) -> None:
    with progress.bar("sweep") as shown:
        assert isinstance(shown, progress.Lines)
        shown.update(1, 2, 0)
    assert capsys.readouterr() == ("", "")


def test_on_a_terminal_there_is_a_bar(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    with progress.bar("sweep") as shown:
        assert not isinstance(shown, progress.Lines)
        shown.update(1, 2, 1)
    assert capsys.readouterr().out == ""
