"""Simulated times stay what they were accepted to be, and drift is told."""

import pytest

from tests.golden.times import accepted, cases, drift, simulated
from tests.thorough import THOROUGH

PARTS = 4


def test_each_inference_has_an_accepted_time() -> None:
    assert accepted().keys() == {str(case) for case in cases()}


@pytest.mark.parametrize("first", range(PARTS if THOROUGH else 1))
def test_nothing_drifted(first: int) -> None:
    """Every fourth inference: in a thorough run all, in others those that begin with the first.

    These have every network, every runtime and each of the chips that run all networks.
    """
    times = accepted()
    chosen = cases()[first::PARTS]
    old = {str(case): times[str(case)] for case in chosen if str(case) in times}
    moved = drift(old, simulated(chosen))
    assert not moved, "accept with: python -m tests.golden.times\n" + "\n".join(moved)


def test_drift_is_reported() -> None:
    old = {"a": 1.0, "b": 2.0, "c": 3.0}
    assert drift(old, {"a": 1.0, "b": 2.2}) == [
        "b: 2.000 -> 2.200 us (+10.00%)",
        "c: 3.0 -> None us",
    ]
