"""Changes of time: Arrhenius, reinforcement, gamma windows; closed forms against quadrature and by hand."""

import math
from itertools import pairwise

import numpy as np
import pytest
from fault_tools import DAY, process_of, walk
from scipy.integrate import quad
from scipy.special import gammaincinv

from c4sim.faults import Activity
from c4sim.faults.pace import CalendarPace, arrhenius
from c4sim.faults.windows import GammaWindows
from c4sim.scenario.faults import Reinforcement, Temperature
from c4sim.streams import Purpose, Streams

MONTH = 30 * DAY
WARMING = Temperature.model_validate(
    {"activation_energy_ev": 0.7, "reference_celsius": 60.0, "celsius": [60.0, 70.0, 55.0], "period": "30d"}
)
MENDING = Reinforcement.model_validate({"factor": 3.33, "over": "180d"})
WORSENING = Reinforcement.model_validate({"factor": 0.5, "over": "45d"})
STAYING = Reinforcement.model_validate({"factor": 1.0, "over": "45d"})


def test_arrhenius_factor() -> None:
    """0.7 eV from 60 to 70 C: exp(0.7 / 8.617333e-5 x (1 / 333.15 - 1 / 343.15)) = exp(0.71057) = 2.0352."""
    assert arrhenius(WARMING, 60.0) == 1.0
    assert arrhenius(WARMING, 70.0) == pytest.approx(2.0352, abs=2e-4)
    assert arrhenius(WARMING, 55.0) < 1.0


def test_reinforcement_reaches_its_factor_and_stays() -> None:
    pace = CalendarPace(None, MENDING)
    assert pace.multiplier(0.0) == 1.0
    assert pace.multiplier(3 * MONTH) == pytest.approx(3.33**-0.5)
    assert pace.multiplier(6 * MONTH) == pytest.approx(1 / 3.33)
    assert pace.multiplier(60 * MONTH) == pytest.approx(1 / 3.33)
    # Integral of 3.33^(-t / T) from 0 to T: T (1 - 1 / 3.33) / ln 3.33.
    assert pace.forward(6 * MONTH) == pytest.approx(6 * MONTH * (1 - 1 / 3.33) / math.log(3.33), rel=1e-12)


@pytest.mark.parametrize("temperature", [None, WARMING])
@pytest.mark.parametrize("reinforcement", [None, MENDING, WORSENING, STAYING])
def test_cumulative_multiplier_by_quadrature(
    temperature: Temperature | None, reinforcement: Reinforcement | None
) -> None:
    pace = CalendarPace(temperature, reinforcement)
    cuts = [0.0, MONTH, 1.5 * MONTH, 2 * MONTH, 6 * MONTH]

    def integral(end: float) -> float:
        edges = [cut for cut in cuts if cut < end] + [end]
        return math.fsum(quad(pace.multiplier, a, b, epsabs=0)[0] for a, b in pairwise(edges))

    for end in (1.0, 0.7 * MONTH, MONTH, 1.4 * MONTH, 2.2 * MONTH, 5.9 * MONTH, 9 * MONTH):
        assert pace.forward(end) == pytest.approx(integral(end), rel=1e-9)
        assert pace.inverse(pace.forward(end)) == pytest.approx(end, rel=1e-12)
    assert pace.inverse(math.inf) == math.inf


@pytest.mark.parametrize("days", [0.0, 20.0, 44.0, 45.0, 59.0, 61.0, 400.0])
def test_temperature_and_reinforcement_multiply(days: float) -> None:
    celsius = WARMING.celsius[min(int(days // 30), 2)]
    exact = arrhenius(WARMING, celsius) * 0.5 ** -min(days / 45, 1.0)
    assert CalendarPace(WARMING, WORSENING).multiplier(days * DAY) == pytest.approx(exact, rel=1e-12)


def test_the_last_temperature_stays() -> None:
    pace = CalendarPace(WARMING, None)
    assert pace.multiplier(99 * MONTH) == pace.multiplier(2 * MONTH) == arrhenius(WARMING, 55.0)
    assert pace.multiplier(2 * MONTH - 1.0) == arrhenius(WARMING, 70.0)


@pytest.mark.parametrize("clock", ["operating", "calendar"])
def test_a_moving_rate_moves_the_events_of_the_same_sequence(clock: str) -> None:
    """Event k comes where the integral of the multiplier over ticking time reaches the time that it had without."""
    plain = {"rate": "5 per job-day", "clock": clock}
    moving = {**plain, "temperature": WARMING.model_dump(mode="json"), "reinforcement": MENDING.model_dump(mode="json")}
    pace = CalendarPace(WARMING, MENDING)
    still = [time for time, _ in walk(process_of({"a": plain}), 9 * MONTH)]
    process = process_of({"a": moving})
    moved = [time for time, _ in walk(process, 9 * MONTH)]
    assert [time for time, _ in process.drawn(0)] == still[: len(moved)]
    assert len(moved) > 300
    np.testing.assert_allclose([pace.forward(time) for time in moved], still[: len(moved)], rtol=1e-9)


def test_a_moving_rate_counts_only_the_time_that_its_clock_ticks() -> None:
    """Rate falls to half over 10 days; stopped from day 2 to day 7, the clock misses that part of the integral."""
    falling = {"factor": 2.0, "over": "10d"}
    fault = {"rate": "1 per job-hour", "reinforcement": falling}
    sequence = process_of({"a": fault})
    list(walk(sequence, 20 * DAY))
    pace = CalendarPace(None, Reinforcement.model_validate(falling))
    counted = pace.forward(2 * DAY)
    value = next(value for value, _ in sequence.drawn(0) if value > counted)

    process = process_of({"a": fault})
    last = [time for time, _ in walk(process, 2 * DAY)][-1]
    process.run(last, 2 * DAY, Activity.OPERATING)
    process.run(2 * DAY, 7 * DAY, Activity.STOPPED)
    expected = pace.inverse(pace.forward(7 * DAY) + value - counted)
    assert process.next_time(7 * DAY, Activity.OPERATING) == pytest.approx(expected, rel=1e-12)


def test_gamma_windows_hold_their_quantiles() -> None:
    """Rate 4 a day, windows of 6 h: mean 1 a window; dispersion 3 needs variance 2, so shape 1 / 2."""
    streams = Streams(1, 0, 0)
    windows = GammaWindows(streams, 3, 4 / DAY, 0.25 * DAY, 3.0, math.inf)
    speeds = gammaincinv(0.5, streams.uniforms(Purpose.CLUSTERING, 3, 0, 500)) * 2.0
    expected = np.concatenate([[0.0], np.cumsum(speeds * 0.25 * DAY)])
    found = [windows.forward(k * 0.25 * DAY) for k in range(501)]
    np.testing.assert_allclose(found, expected, rtol=1e-12)
    middle = 0.5 * (expected[1:] + expected[:-1])
    np.testing.assert_allclose([windows.inverse(m) for m in middle], (np.arange(500) + 0.5) * 0.25 * DAY, rtol=1e-9)


def test_windows_are_not_searched_beyond_the_horizon() -> None:
    windows = GammaWindows(Streams(1, 0, 0), 0, 1e-12, DAY, 2.0, 100 * DAY)
    assert windows.inverse(1e12) == math.inf
