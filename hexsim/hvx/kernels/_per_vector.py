"""Kernels with the same cost for every vector of a tensor."""

from __future__ import annotations

from hexsim.graph.ir import Shape
from hexsim.graph.nhwc import as_nhwc
from hexsim.hvx.kernels._blocking import RowCost, row_stage
from hexsim.hvx.layout import PIXELS, ceil_div, depth_slices, padded_vectors, row_vectors
from hexsim.hvx.streams import LoopCost
from hexsim.timing.memory import Traffic
from hexsim.timing.work import Stage


def per_vector_stage(
    shape: Shape,
    cost: LoopCost,
    threads: int,
    traffic: Traffic,
    l2_bytes: int,
    *,
    padded: bool = False,
    sheet_packets: int = 0,
    call_packets: int = 0,
) -> Stage:
    """Spread the rows of `shape` over `threads`; `cost` is per `cost.pixels` pixels of a slice.

    A tensor without spatial axes has one row and is stored flat, 128 elements to a vector. padded:
    the kernel computes the padding on the left of each row too. sheet_packets: packets around the
    loop for each row of a slice, beyond its epilogue and prologue. call_packets: packets of a job.
    """
    batch, height, width, channels = as_nhwc(shape)
    if height == width == 1:
        row = RowCost.of(cost, ceil_div(channels, cost.pixels * cost.channels), 1)
        return row_stage(batch, row, threads, traffic, l2_bytes, call_packets)
    depth = depth_slices(channels)
    of_row = (padded_vectors if padded else row_vectors)(width)
    tiles = depth * ceil_div(of_row * PIXELS, cost.pixels)
    row = RowCost.of(cost, tiles, depth) + RowCost(sheet_packets * depth)
    return row_stage(batch * height, row, threads, traffic, l2_bytes, call_packets)
