"""Conversions to and from d32 of tensors whose channels do not fill their slices."""

from __future__ import annotations

import pytest

from hexsim.hvx.isa import HvxMachine
from hexsim.hvx.kernels import Target
from hexsim.hvx.kernels.conversion import from_d32, in_scalar_code, into_d32, to_d32
from hexsim.hvx.streams import listed, movement
from hexsim.studies.cuts.prices import Change
from hexsim.timing.memory import Traffic

V66 = HvxMachine(66)
TARGET = Target(V66, 4, 1 << 20, 1 << 18)
GROUPS = 4
"""Vectors of a row of 16 pixels."""


def slots(channels: int) -> int:
    cost = into_d32((1, 1, 16, channels), TARGET)
    return cost.packets + cost.stalls


def tile(count: int) -> int:
    return movement.to_d32_edge(V66, count).cost.tile


@pytest.mark.parametrize(
    ("channels", "edges"), [(12, (1,)), (33, (2,)), (96, (2, 1)), (140, (1,)), (192, (2,))]
)
def test_sheets_after_the_last_four_load_each_pixel(channels: int, edges: tuple[int, ...]) -> None:
    whole = channels // 128 * listed("to_d32", V66).cost.tile
    assert slots(channels) == GROUPS * (whole + sum(map(tile, edges)))


def test_three_sheets_after_others_are_computed_as_four() -> None:
    assert slots(224) == slots(256) == GROUPS * 2 * listed("to_d32", V66).cost.tile


@pytest.mark.parametrize(
    ("channels", "copies"), [(1, 1), (12, 12), (16, 2), (64, 8), (40, 5), (33, 33)]
)
def test_scalar_code_copies_double_words_where_all_slices_are_aligned(
    channels: int, copies: int
) -> None:
    stage = in_scalar_code((1, 8, 4, channels), TARGET, Traffic(), 8)
    assert stage is not None
    around = listed("scalar_copy", V66, count=0).cost.tile
    pixel = -(-channels // 32) * around + copies
    assert sum(item.packets for item in stage.items) == 8 * 4 * pixel


@pytest.mark.parametrize("change", [to_d32, from_d32])
def test_hvx_changes_images_of_less_than_a_sheet_in_scalar_code_too(change: Change) -> None:
    scalar = in_scalar_code((1, 8, 4, 12), TARGET, Traffic(), 8, threads=2)
    assert change((1, 8, 4, 12), TARGET, Traffic(), 8) == scalar
    whole = change((1, 8, 4, 32), TARGET, Traffic(), 8)
    assert whole != in_scalar_code((1, 8, 4, 32), TARGET, Traffic(), 8, threads=2)
