"""Parts hold all points once; there are never more than thousands of them."""

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hexsim.errors import HexsimError
from hexsim.studies.pool import ranges
from hexsim.studies.sweep.parts import SweepParts, evaluate, part_points, planned
from hexsim.studies.sweep.points import Points


@given(st.integers(1, 10**12))
def test_parts_are_never_more_than_thousands_nor_tiny(points: int) -> None:
    size = part_points(points)
    assert size >= 32
    assert -(-points // size) <= 4096


@given(st.integers(1, 10**5))
def test_parts_hold_all_points_once(points: int) -> None:
    held = [number for part in ranges(points, part_points(points)) for number in part]
    assert held == list(range(points))


def test_only_a_folder_with_parts_belongs_to_its_sweep(folder: Path, grid: Points) -> None:
    other = replace(grid, space=grid.space.model_copy(update={"seed": 5}))
    place = folder / "space.parquet.parts"
    place.mkdir()
    for points in (grid, other, grid):
        SweepParts(place, points).open()
    mine = SweepParts(place, grid)
    mine.add(range(32), evaluate(grid, 0, 32))
    mine.open()
    assert mine.missing()[0].start == 32
    with pytest.raises(HexsimError, match="holds the parts of another sweep"):
        SweepParts(place, other).open()
    assert mine.missing()[0].start == 32


def test_more_points_than_an_answer_may_have_are_refused_before_they_are_planned(
    folder: Path, grid: Points
) -> None:
    many = grid.space.model_copy(update={"draws": 10**12})
    with pytest.raises(HexsimError, match=r"asks for .* numbers in a sweep's answer"):
        planned(many, folder / "space.parquet", pytest.fail)
    assert not (folder / "space.parquet.parts").exists()
