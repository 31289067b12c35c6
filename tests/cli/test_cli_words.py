"""Sorting the words after a verb, with every mistake noted."""

from pathlib import Path

import pytest

from c4sim.cli import readers
from c4sim.cli.words import Grammar, UsageError, Words, read

GRAMMAR = Grammar(
    options={"replications": readers.whole(1), "format": readers.one_of("text", "json"), "target": readers.share},
    switches=("--multirun", "--update"),
    texts=("--config-dir",),
    lists=("--with",),
)


def wrong(said: Words) -> list[str]:
    return [str(problem) for problem in said.problems]


def test_each_word_finds_its_place() -> None:
    said = read(
        [
            "scenario=c4_june2023",
            "replications=20",
            "-m",
            "--with",
            "a=1 b=2",
            "--with=c=3",
            "format='json'",
            "--update",
        ],
        GRAMMAR,
    )
    assert said.overrides == ["scenario=c4_june2023"]
    assert said.options == {"replications": 20, "format": "json"}
    assert said.switches == {"--multirun", "--update"}
    assert said.texts == {"--with": ["a=1 b=2", "c=3"]}
    assert said.problems == []
    assert said.text("--config-dir") is None


def test_the_grammar_of_overrides_is_not_read_here() -> None:
    words = ["+a=1", "~b", "x={a: 1, b: [2, 3]}", "y=1,2"]
    assert read(words, GRAMMAR).overrides == words


def test_all_mistakes_are_noted() -> None:
    said = read(["replications=0", "format=yaml", "--updte", "word", "target=2", "--with"], GRAMMAR)
    assert wrong(said) == [
        "replications: must be a whole number from 1 to 18446744073709551615 (got '0')",
        "format: must be one of text, json (got 'yaml')",
        "--updte: unknown option; did you mean '--update'?",
        "word: is no key=value and no option",
        "target: a share must lie between 0 and 1, or 0% and 100% (got '2.0')",
        "--with: needs a text after it",
    ]
    with pytest.raises(UsageError):
        said.check()


def test_what_is_given_twice_is_refused_with_both_values() -> None:
    words = [
        "replications=2",
        "replications=3",
        "--config-dir",
        "a",
        "--config-dir=b",
        "--with",
        "x=1",
        "--with",
        "x=2",
    ]
    said = read(words, GRAMMAR)
    assert wrong(said) == [
        "replications: is given twice, as 2 and 3; leave one",
        "--config-dir: is given twice, as a and b; leave one",
    ]
    assert said.texts["--with"] == ["x=1", "x=2"]


def test_empty_texts_are_no_texts() -> None:
    assert wrong(read(["--config-dir", "", "--with="], GRAMMAR)) == [
        "--config-dir: needs a text after it",
        "--with: needs a text after it",
    ]


def test_where_results_can_go(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    assert readers.folder(str(tmp_path / "a" / "b")) == str(tmp_path / "a" / "b")
    assert readers.file(str(tmp_path / "file")) == str(tmp_path / "file")
    for reader, name, words in (
        (readers.folder, "file", "is no folder"),
        (readers.folder, "file/below", "file is no folder"),
        (readers.folder, "n" * 300, "cannot be a path"),
        (readers.file, "none/x", "there is no folder"),
        (readers.file, "", "is a folder"),
        (readers.file, "n" * 300, "cannot be a path"),
    ):
        with pytest.raises(ValueError, match=words):
            reader(f"{tmp_path}/{name}")


def test_every_wrong_duration_is_told() -> None:
    with pytest.raises(ValueError, match=r"'0s': must be longer than 0; 'foo': "):
        readers.durations("[0s, 1h, foo]")


def test_a_misspelt_option_is_no_override() -> None:
    said = read(["replication=3", "repair=3", "horizn=3d"], GRAMMAR)
    assert wrong(said) == ["replication: unknown key; did you mean 'replications'? (got '3')"]
    assert said.overrides == ["repair=3", "horizn=3d"]


def test_words_without_place() -> None:
    assert read(["file.json"], Grammar(positional="a file")).positional == ["file.json"]
    assert wrong(read(["a=1"], Grammar(overrides=False, positional="a file"))) == ["a: unknown key (got '1')"]


@pytest.mark.parametrize("text", ["-1", "1.5", "1e3", "", "0x1", "٣", "1" * 30, "nan"])
def test_whole_numbers(text: str) -> None:
    with pytest.raises(ValueError, match="whole number"):
        readers.whole(0)(text)


@pytest.mark.parametrize(("text", "value"), [("0.1pp", 0.001), ("1.5%", 0.015), ("0.25", 0.25)])
def test_shares(text: str, value: float) -> None:
    assert readers.share(text) == pytest.approx(value, rel=1e-15)


@pytest.mark.parametrize("text", ["nan", "inf", "-0.1", "x", "0", "1"])
def test_probabilities_are_finite_and_inside(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        readers.probability(text)
