from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hexsim.timing.fluid import SharedRate, max_min
from hexsim.timing.simtime import Environment

CAPS = st.lists(st.floats(0.0, 100.0), min_size=1, max_size=8)


class Equal(SharedRate[None]):
    """One unit per picosecond, in equal parts."""

    def _rates(self, demands: Sequence[None]) -> Sequence[float]:
        return [1.0 / len(demands) for _ in demands]


def stepwise_max_min(capacity: float, caps: Sequence[float], steps: int = 20_000) -> list[float]:
    """Hand out the capacity crumb by crumb to whoever has least and is below its cap."""
    shares = [0.0] * len(caps)
    crumb = capacity / steps
    for _ in range(steps):
        hungry = [user for user, cap in enumerate(caps) if shares[user] + crumb <= cap]
        if not hungry:
            break
        shares[min(hungry, key=lambda user: shares[user])] += crumb
    return shares


def finish_times(arrivals: list[tuple[int, int]]) -> list[int]:
    env = Environment()
    pipe = Equal(env)
    ends = [0] * len(arrivals)

    def user(index: int, at: int, amount: int):
        yield env.timeout(at)
        yield pipe.use(amount, None)
        ends[index] = env.now

    for index, (at, amount) in enumerate(arrivals):
        env.process(user(index, at, amount))
    env.run()
    return ends


def stepwise_finish_times(arrivals: list[tuple[int, int]]) -> list[int]:
    """Advance one picosecond at a time."""
    left = [float(amount) for _, amount in arrivals]
    ends = [0] * len(arrivals)
    now = 0
    while any(amount > 1e-6 for amount in left):
        active = [i for i, (at, _) in enumerate(arrivals) if at <= now and left[i] > 1e-6]
        now += 1
        for index in active:
            left[index] -= 1.0 / len(active)
            if left[index] <= 1e-6:
                ends[index] = now
    return ends


@given(st.floats(0.1, 100.0), CAPS)
def test_max_min_agrees_with_handing_out_crumbs(capacity: float, caps: list[float]) -> None:
    for share, reference in zip(
        max_min(capacity, caps), stepwise_max_min(capacity, caps, 2000), strict=True
    ):
        assert share == pytest.approx(reference, abs=2 * capacity / 2000 * len(caps))


@given(st.floats(0.1, 100.0), CAPS)
def test_max_min_never_exceeds_and_never_wastes(capacity: float, caps: list[float]) -> None:
    shares = max_min(capacity, caps)
    assert all(0 <= share <= cap for share, cap in zip(shares, caps, strict=True))
    assert sum(shares) == pytest.approx(min(capacity, sum(caps)))


def test_two_users_share_and_the_second_half_runs_at_full_speed() -> None:
    assert finish_times([(0, 1000), (500, 1000)]) == [1500, 2000]


def test_a_user_without_work_leaves_at_once() -> None:
    assert finish_times([(7, 0)]) == [7]


@given(st.lists(st.tuples(st.integers(0, 60), st.integers(1, 80)), min_size=1, max_size=5))
def test_fluid_agrees_with_stepping(arrivals: list[tuple[int, int]]) -> None:
    for end, reference in zip(finish_times(arrivals), stepwise_finish_times(arrivals), strict=True):
        assert abs(end - reference) <= len(arrivals)


class FirstOnly(SharedRate[str]):
    """One unit per picosecond for whoever came first; keeps the users of each sharing."""

    def __init__(self, env: Environment) -> None:
        super().__init__(env)
        self.seen: list[list[str]] = []

    def _rates(self, demands: Sequence[str]) -> Sequence[float]:
        self.seen.append(list(demands))
        return [float(place == 0) for place in range(len(demands))]


def test_one_sharing_an_instant_sees_everybody_who_is_there_after_it() -> None:
    env = Environment()
    pipe = FirstOnly(env)

    def stays():
        yield pipe.use(5, "a")
        yield pipe.use(5, "a again")

    env.process(stays())
    pipe.use(1, "b")
    env.run(until=7)
    assert pipe.seen == [["b", "a"], ["a"], ["a again"]]


def test_a_use_tells_how_long_it_stood_still() -> None:
    env = Environment()
    pipe = FirstOnly(env)
    first, second = pipe.use(5, "a"), pipe.use(3, "b")
    env.run()
    assert (first.still_ps, second.still_ps) == (0, 5)


def test_rates_can_be_asked_for_again_later() -> None:
    env = Environment()
    pipe = FirstOnly(env)
    pipe.use(5, "a")
    pipe._share_after(2)
    env.run()
    assert (env.now, pipe.seen) == (5, [["a"], ["a"], []])
