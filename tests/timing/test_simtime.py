from __future__ import annotations

import math

import pytest

from hexsim.errors import HexsimError
from hexsim.timing.picoseconds import ps_to_clocks, seconds_to_ps
from hexsim.timing.simtime import Activity, Environment, Moment, Process


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


def test_an_activity_begins_and_ends_without_events_of_its_own() -> None:
    env = Environment()
    signal, seen = Moment(env), list[tuple[str, int]]()

    def waits() -> Process:
        seen.append(("begins", env.now))
        text = yield signal
        seen.append((text, env.now))
        return "ended"

    def tells() -> Process:
        yield env.timeout(5)
        signal.happen("told")
        seen.append(("after", env.now))
        value = yield waiting
        seen.append((value, env.now))

    waiting = Activity(env, waits())
    Activity(env, tells())
    env.run()
    assert seen == [("begins", 0), ("told", 5), ("after", 5), ("ended", 5)]
    assert env.scheduled == 1, "the timeout"


def test_an_instant_ends_when_only_what_comes_after_all_else_is_left() -> None:
    env = Environment()
    seen: list[bool] = []
    for delay in (3, 3, 4):
        env.timeout(delay).callbacks.append(lambda _: seen.append(env.ends_instant))
    env.run()
    assert seen == [False, True, True]
