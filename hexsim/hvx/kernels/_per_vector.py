"""Kernels with the same cost for every vector of a tensor."""

from __future__ import annotations

from hexsim.graph.ir import Shape
from hexsim.graph.nhwc import as_nhwc
from hexsim.hvx.kernels._blocking import RowCost, row_stage
from hexsim.hvx.layout import PIXELS, ceil_div, row_vectors, sheets
from hexsim.hvx.streams import LoopCost
from hexsim.timing.memory import Traffic
from hexsim.timing.work import Stage


def per_vector_stage(
    shape: Shape, cost: LoopCost, threads: int, traffic: Traffic, l2_bytes: int
) -> Stage:
    """Spread the rows of `shape` over `threads`; `cost` is per `cost.pixels` pixels of a sheet.

    A tensor without spatial axes has one row and is stored flat, 128 elements to a vector.
    """
    batch, height, width, channels = as_nhwc(shape)
    if height == width == 1:
        row = RowCost.of(cost, ceil_div(channels, cost.pixels * cost.channels), 1)
        return row_stage(batch, row, threads, traffic, l2_bytes)
    tiles = sheets(channels) * ceil_div(row_vectors(width) * PIXELS, cost.pixels)
    return row_stage(
        batch * height, RowCost.of(cost, tiles, sheets(channels)), threads, traffic, l2_bytes
    )
