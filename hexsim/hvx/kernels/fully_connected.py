"""Fully connected: groups of weight slices as jobs that the workers take in turn.

The main thread issues the prefetch of every group while it queues the jobs and waits for none of
them, so fetches run ahead of the work; with a batch of one the layer runs at the speed of DDR.
A spatial input is first taken out of the d32 layout.

Source: Hexagon NN, hexagon/ops/src/op_superfc_d32.c (lines 718-722, 1335-1400).
"""

from __future__ import annotations

import math

from hexsim.hvx.kernels import _counted as counted
from hexsim.hvx.kernels._blocking import RowCost, row_stage
from hexsim.hvx.kernels._target import Target
from hexsim.hvx.layout import SHEET, as_nhwc, ceil_div, sheets, vectors
from hexsim.layers import FullyConnected
from hexsim.memory import Traffic
from hexsim.plan import KernelCall
from hexsim.work import NodeWork, Slice, Stage

_GROUP_BYTES = 384 * 1024
_BIAS_BYTES = 4


def work(call: KernelCall, target: Target, traffic: Traffic) -> NodeWork:
    """One job per weight group."""
    assert isinstance(call.layer, FullyConnected)
    source = call.operands[0]
    batch = source[0]
    inputs = math.prod(source) // batch
    cost = counted.fully_connected(inputs, batch)
    slice_bytes = SHEET * (ceil_div(inputs, SHEET) * SHEET + _BIAS_BYTES)
    group = ceil_div(_GROUP_BYTES, slice_bytes)
    count = sheets(call.layer.output_channels)
    sizes = [min(group, count - begin) for begin in range(0, count, group)]
    one = RowCost.of(cost, 1)
    pieces = tuple(Slice((one.item(size),), size * slice_bytes) for size in sizes)
    stages = [Stage(pieces, target.workers, buffers=len(pieces))]
    _, height, width, _ = as_nhwc(source)
    if height * width > 1:
        flatten = RowCost.of(counted.FROM_D32, ceil_div(vectors(source), 4 * batch * height))
        stages.insert(0, row_stage(batch * height, flatten, 2, traffic, target.l2_bytes))
    return NodeWork(tuple(stages), "kernel", nodes=len(stages))
