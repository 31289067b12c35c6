"""`exchange` is `take_out`, `request` and `seat` at one instant: the same histories, whatever the fleet."""

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from c4sim.fleet import Fleet
from c4sim.scenario import validate
from c4sim.streams import Streams

fleets = st.fixed_dictionaries(
    {
        "spares": st.fixed_dictionaries(
            {
                "per_pool": st.sampled_from([0, 1, 2, "unlimited"]),
                "pool_nodes": st.sampled_from([2, 8]),
                "borrowing": st.booleans(),
                "provisioning": st.sampled_from(["0s", "30s"]),
            }
        ),
        "repair": st.fixed_dictionaries(
            {"duration": st.sampled_from(["0s", "100s", "1h"]), "crews": st.sampled_from([1, "unlimited"])}
        ),
    }
)


@settings(max_examples=300, deadline=None)
@given(fleets, st.lists(st.tuples(st.integers(0, 7), st.floats(0.0, 500.0)), max_size=25))
def test_one_call_or_three(document: dict[str, Any], faults: list[tuple[int, float]]) -> None:
    scenario = validate({**document, "job": {"nodes": 8}})
    together, apart = (Fleet(scenario, Streams(1, 0, 0)) for _ in range(2))
    now = 0.0
    for number, (slot, gap) in enumerate(faults):
        now += gap
        for fleet in (together, apart):
            fleet.request(now)
            fleet.seat(now)
        assert together.empty_slots() == apart.empty_slots()
        assert together.whole == (not together.empty_slots())
        if together.is_empty(slot):
            continue
        _, come = together.exchange(slot, now, broken=True, stream=0, number=number)
        apart.take_out(slot, now, broken=True, stream=0, number=number)
        if come is not None:
            assert apart.request(now) == now
            assert (slot, come) in [(place, unit) for place, _, unit in apart.seat(now)]
        assert [together.place_of(unit) for unit in range(together.units())] == [
            apart.place_of(unit) for unit in range(apart.units())
        ]
