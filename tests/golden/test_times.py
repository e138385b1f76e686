"""Simulated times stay what they were accepted to be, and drift is told."""

from tests.golden.times import accepted, drift, simulated


def test_nothing_drifted() -> None:
    moved = drift(accepted(), simulated())
    assert not moved, "accept with: python -m tests.golden.times\n" + "\n".join(moved)


def test_drift_is_told() -> None:
    old = {"a": 1.0, "b": 2.0, "c": 3.0}
    assert drift(old, {"a": 1.0, "b": 2.2}) == [
        "b: 2.000 -> 2.200 us (+10.00%)",
        "c: 3.0 -> None us",
    ]
