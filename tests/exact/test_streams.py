"""Random numbers are a pure function of their address."""

import itertools

import numpy as np
import pytest

from c4sim.streams import BlockReader, Purpose, Streams


def test_a_stream_is_the_same_in_any_piece() -> None:
    streams = Streams(3, 1, 7)
    whole = streams.uniforms(Purpose.REPAIR, 5, 0, 200)
    pieces = [streams.uniforms(Purpose.REPAIR, 5, start, 17) for start in range(0, 187, 11)]
    for start, piece in zip(range(0, 187, 11), pieces, strict=True):
        assert (piece == whole[start : start + 17]).all()
    assert streams.uniform(Purpose.REPAIR, 5, 123) == whole[123]


def test_other_draws_change_nothing() -> None:
    alone = Streams(3, 1, 7).uniforms(Purpose.LIFE, 2, 0, 8)
    streams = Streams(3, 1, 7)
    streams.uniforms(Purpose.EVENT, 2, 0, 1000)
    assert (streams.uniforms(Purpose.LIFE, 2, 0, 8) == alone).all()


def test_every_part_of_the_address_counts() -> None:
    """Two values for each of the five parts: 32 streams without a number in common, neighbouring seeds included."""
    seen: set[float] = set()
    for seed, point, replication, purpose, entity in itertools.product((42, 43), (0, 1), (0, 1), (1, 2), (0, 1)):
        numbers = Streams(seed, point, replication).uniforms(purpose, entity, 0, 30).tolist()
        assert seen.isdisjoint(numbers)
        seen.update(numbers)
    assert len(seen) == 32 * 30


def test_numbers_lie_strictly_between_0_and_1() -> None:
    numbers = Streams(0, 0, 0).uniforms(1, 0, 0, 100_000)
    assert 0.0 < numbers.min() < numbers.max() < 1.0


def test_a_reader_reads_what_the_stream_holds_in_any_order() -> None:
    streams = Streams(1, 0, 0)
    whole = streams.uniforms(Purpose.LIFE, 9, 0, 400)
    reader = BlockReader(streams, Purpose.LIFE, 9, np.log, first=8, largest=32)
    for index in (*range(120), 3, 399, 0, 250):
        assert reader.get(index) == np.log(whole[index])


@pytest.mark.parametrize("part", ["seed", "point", "replication"])
def test_negative_addresses_are_refused(part: str) -> None:
    address = {"seed": 0, "point": 0, "replication": 0, part: -1}
    with pytest.raises(ValueError, match=rf"{part}: must be a whole number >= 0 \(got -1\)"):
        Streams(**address)


def test_purposes_are_numbered_once_and_for_all() -> None:
    """Their numbers are part of every published result: from the first release on members are only appended."""
    values = [purpose.value for purpose in Purpose]
    assert values == sorted(set(values))
    assert (Purpose.EVENT, Purpose.REPAIR, Purpose.LAYERS) == (1, 17, 31)
