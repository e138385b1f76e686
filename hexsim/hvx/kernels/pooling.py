"""Pooling: maximum and average, windows and whole images.

The 3x3 loops make two output rows at once; of an odd number of rows the last is made alone, at
the price of two.

Source: Hexagon NN, maxpool_3x3s2_d32.S, maxpool_d32.S, avgpool_d32.S, op_avgpool_d32.c.
"""

from __future__ import annotations

from hexsim.hvx.kernels import _loops
from hexsim.hvx.kernels._blocking import RowCost, row_stage
from hexsim.hvx.kernels._target import Target
from hexsim.hvx.layout import PIXELS, as_nhwc, ceil_div, sheets
from hexsim.hvx.streams import Kernel
from hexsim.layers import Pooling
from hexsim.memory import Traffic
from hexsim.plan import KernelCall
from hexsim.work import NodeWork


def streams(call: KernelCall, target: Target) -> tuple[Kernel, ...]:
    """The loop of the window."""
    layer = call.layer
    assert isinstance(layer, Pooling)
    choose = _loops.max_pool if layer.kind == "max" else _loops.average_pool
    return (choose(target.machine, layer.window.kernel, layer.window.strides),)


def work(call: KernelCall, target: Target, traffic: Traffic) -> NodeWork:
    """Output rows over the workers; a pooling to one row is cut by sheets instead."""
    (kernel,) = streams(call, target)
    cost = kernel.cost
    batch, height, width, channels = as_nhwc(call.results[0])
    tiles = ceil_div(width, PIXELS)
    if height == 1:
        rows, row = batch * sheets(channels), RowCost.of(cost, tiles, 1)
    else:
        rows = batch * ceil_div(height, cost.pixels // PIXELS)
        row = RowCost.of(cost, tiles * sheets(channels), sheets(channels))
    return NodeWork((row_stage(rows, row, target.workers, traffic, target.l2_bytes),), "kernel")
