"""Conversions to and from d32 of tensors whose channels do not fill their slices."""

from __future__ import annotations

import pytest

from hexsim.hvx.isa import HvxMachine
from hexsim.hvx.kernels import Target
from hexsim.hvx.kernels.conversion import into_d32, out_of_d32
from hexsim.hvx.streams import listed, movement

V66 = HvxMachine(66)
TARGET = Target(V66, 4, 1 << 20, 1 << 18)
GROUPS = 4
"""Vectors of a row of 16 pixels."""


def slots(channels: int, *, out: bool = False) -> int:
    cost = (out_of_d32 if out else into_d32)((1, 1, 16, channels), TARGET)
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


def test_less_than_a_sheet_is_packed_and_stored_when_a_vector_is_full() -> None:
    packed, stored = listed("from_d32_packed", V66), listed("packed_store", V66)
    assert slots(12, out=True) == GROUPS * packed.cost.tile + 2 * stored.cost.tile
