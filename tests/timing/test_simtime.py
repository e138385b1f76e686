from __future__ import annotations

import math

import pytest

from hexsim.errors import HexsimError
from hexsim.timing.picoseconds import ps_to_clocks, seconds_to_ps
from hexsim.timing.simtime import Environment


def test_conversions() -> None:
    assert seconds_to_ps(1.5e-6) == 1_500_000
    assert ps_to_clocks(1_000_000, 1.459e9) == 1459


def test_the_clock_of_an_environment_is_an_integer() -> None:
    env = Environment()
    env.run(env.timeout(3))
    assert env.now == 3
    assert isinstance(env.now, int)


def test_an_environment_counts_its_events() -> None:
    env = Environment()
    for _ in range(3):
        env.timeout(1)
    assert env.scheduled == 3


@pytest.mark.parametrize("seconds", [math.inf, math.nan, 1e300])
def test_a_time_without_a_number_is_refused(seconds: float) -> None:
    with pytest.raises(HexsimError, match="too long to simulate"):
        seconds_to_ps(seconds)
