"""Calls that repeat are prolonged as the simulator would go on, and others are not."""

from __future__ import annotations

import random

import pytest

from hexsim.errors import HexsimError
from hexsim.studies.repetition import Repetition, in_order, prolonged, repetition
from hexsim.timing.results import InferenceTiming


def call(job: int, start: int, end: int) -> InferenceTiming:
    return InferenceTiming(job, start, end, (), ())


def closed(job: int, latencies: list[int]) -> list[InferenceTiming]:
    """Calls one behind the other."""
    ends = [sum(latencies[: number + 1]) for number in range(len(latencies))]
    return [call(job, e - took, e) for e, took in zip(ends, latencies, strict=True)]


def test_a_period_after_a_beginning_of_its_own() -> None:
    calls = closed(0, [9, 7, 3, 4, 3, 4, 3, 4, 3, 4])
    assert repetition(calls, 1) == Repetition(7, 2, 10)
    assert repetition(calls[:-1], 1) is None, "of two calls, only three and a half periods"
    longer = closed(0, [9, 7, *[3, 4] * 20])
    assert prolonged(calls, Repetition(7, 2, 10), longer[30].start_ps + 1) == longer[:31]


def test_a_period_has_calls_of_every_thread() -> None:
    fast, slow = closed(0, [2] * 40), closed(1, [10] * 8)
    assert repetition(in_order([*fast[:6], *slow]), 2) is None
    together = in_order([*fast, *slow])
    assert repetition(together, 2) == Repetition(10, 6, 48)
    assert repetition(in_order(fast), 2) is None


def test_what_is_out_of_step_does_not_repeat() -> None:
    rng = random.Random(1)
    assert repetition(closed(0, [rng.randrange(5, 9) for _ in range(200)]), 1) is None
    assert repetition(in_order([*closed(0, [100] * 99), *closed(1, [141] * 70)]), 2) is None


def test_a_prolongation_has_a_budget() -> None:
    calls = closed(0, [5] * 8)
    repeated = repetition(calls, 1)
    assert repeated is not None
    with pytest.raises(HexsimError, match=r"the duration of the workload asks for .* calls"):
        prolonged(calls, repeated, 10**8)
