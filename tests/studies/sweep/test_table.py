"""Tables of a sweep: what a file may ask for before it is read.

Parts hold all points once; there are never more than thousands of them.
"""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from hexsim import budget
from hexsim.errors import HexsimError
from hexsim.studies.pool import ranges
from hexsim.studies.sweep.points import Points
from hexsim.studies.sweep.table import SweepParts, evaluate, part_points, planned, read


def test_a_small_file_of_many_rows_is_refused_before_it_is_read(tmp_path: Path) -> None:
    """Parquet stores a million equal numbers in a few bytes."""
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    count = budget.SWEPT.amount // 4
    columns = {f"c{number}": pyarrow.array(np.zeros(count, "f8")) for number in range(5)}
    parquet.write_table(pyarrow.table(columns), tmp_path / "bomb.parquet", compression="zstd")
    assert (tmp_path / "bomb.parquet").stat().st_size < 1 << 20
    with pytest.raises(HexsimError, match=r"bomb.parquet' asks for .* numbers in a sweep's answer"):
        read(tmp_path / "bomb.parquet")


def test_a_column_of_lists_is_refused_by_its_name(tmp_path: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    lists = pyarrow.array([["a"], ["b", "c"]])
    parquet.write_table(pyarrow.table({"network": lists}), tmp_path / "lists.parquet")
    with pytest.raises(HexsimError, match=r"column .network. of .*lists.parquet. is not as"):
        read(tmp_path / "lists.parquet")


def test_a_column_that_is_there_twice_is_refused_by_its_name(tmp_path: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    table = pyarrow.table([["a"], ["b"]], names=["network", "network"])
    parquet.write_table(table, tmp_path / "twice.parquet")
    with pytest.raises(HexsimError, match=r"column .network. of .*twice.parquet. .* there twice"):
        read(tmp_path / "twice.parquet")


def test_different_texts_have_a_budget_of_their_own(tmp_path: Path, monkeypatch: Any) -> None:
    """Long texts with a common beginning take a few bytes of a file, and each becomes a value."""
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    monkeypatch.setenv("HEXSIM_BUDGET", "0.01")
    texts = [f"{'x' * 1000}{number}" for number in range(1000)]
    for column, limit in ((texts, "different texts"), (texts[:1] * 3000, "characters in a sweep")):
        table = pyarrow.table({"network": column})
        parquet.write_table(table, tmp_path / "long.parquet", compression="zstd")
        assert (tmp_path / "long.parquet").stat().st_size < 1 << 16
        with pytest.raises(HexsimError, match=rf"long.parquet' asks for .*{limit}"):
            read(tmp_path / "long.parquet")


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
    other = replace(grid, space=structs.replace(grid.space, seed=5))
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
    many = structs.replace(grid.space, draws=10**12)
    with pytest.raises(HexsimError, match=r"asks for .* numbers in a sweep's answer"):
        planned(many, folder / "space.parquet")
    assert not (folder / "space.parquet.parts").exists()
