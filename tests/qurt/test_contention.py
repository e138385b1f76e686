from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hexsim.qurt.contention import SharedUnit, contended

RATES = st.lists(st.floats(0.1, 10), min_size=1, max_size=6)


def test_without_a_scarce_unit_the_rates_stay() -> None:
    assert contended([1, 2], [SharedUnit(10, [1, 4])]) == [1, 2]


def test_one_unit_is_shared_max_min_fairly() -> None:
    """8 units; the first wants 1 and gets it, the other two get 3.5 each."""
    assert contended([1, 2, 2], [SharedUnit(8, [1, 2, 4])]) == [1, 3.5 / 2, 3.5 / 4]


def test_who_needs_none_of_a_scarce_unit_is_not_held_up() -> None:
    assert contended([1, 5, 5], [SharedUnit(4, [0, 1, 1])]) == [1, 2, 2]


def test_what_one_unit_holds_up_leaves_the_other_one_to_others() -> None:
    """The second unit holds user 0 to 0.5, so user 1 gets the rest of the first one."""
    first, second = SharedUnit(2, [1, 1]), SharedUnit(0.5, [1, 0])
    assert contended([2, 2], [first, second]) == pytest.approx([0.5, 1.5])


@given(st.data(), RATES)
def test_no_unit_is_overdrawn_and_nobody_waits_without_a_full_one(
    data: st.DataObject, rates: list[float]
) -> None:
    needs = st.lists(
        st.sampled_from([0.0, 0.5, 1.0, 3.0]), min_size=len(rates), max_size=len(rates)
    )
    units = [
        SharedUnit(capacity, data.draw(needs))
        for capacity in data.draw(st.lists(st.floats(0.5, 20), min_size=1, max_size=3))
    ]
    shares = contended(rates, units)
    used = [sum(r * n for r, n in zip(shares, unit.needs, strict=True)) for unit in units]
    for unit, amount in zip(units, used, strict=True):
        assert amount <= unit.capacity * (1 + 1e-6)
    for user, (rate, wish) in enumerate(zip(shares, rates, strict=True)):
        assert 0 < rate <= wish
        holds_up = any(
            unit.needs[user] and amount >= unit.capacity * (1 - 1e-6)
            for unit, amount in zip(units, used, strict=True)
        )
        assert rate == wish or holds_up
