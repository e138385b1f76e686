"""Parts hold all points once; there are never more than thousands of them."""

from hypothesis import given
from hypothesis import strategies as st

from hexsim.studies.cluster import ranges
from hexsim.studies.sweep.parts import part_points


@given(st.integers(1, 10**12))
def test_parts_are_never_more_than_thousands_nor_tiny(points: int) -> None:
    size = part_points(points)
    assert size >= 32
    assert -(-points // size) <= 4096


@given(st.integers(1, 10**5))
def test_parts_hold_all_points_once(points: int) -> None:
    held = [number for part in ranges(points, part_points(points)) for number in part]
    assert held == list(range(points))
