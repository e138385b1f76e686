"""Pooling: maximum and average, windows and whole images.

Source: Hexagon NN, maxpool_3x3s2_d32.S, maxpool_d32.S, avgpool_d32.S, op_avgpool_d32.c.
"""

from __future__ import annotations

from hexsim.hvx.kernels import _counted as counted
from hexsim.hvx.kernels._blocking import RowCost, row_stage
from hexsim.hvx.kernels._target import Target
from hexsim.hvx.layout import as_nhwc, ceil_div, sheets
from hexsim.layers import Pooling
from hexsim.memory import Traffic
from hexsim.plan import KernelCall
from hexsim.work import NodeWork


def work(call: KernelCall, target: Target, traffic: Traffic) -> NodeWork:
    """Output rows over the workers; a pooling to one row is cut by sheets instead."""
    layer = call.layer
    assert isinstance(layer, Pooling)
    batch, height, width, channels = as_nhwc(call.results[0])
    choose = counted.max_pool if layer.kind == "max" else counted.average_pool
    cost = choose(layer.window.kernel, layer.window.strides)
    tiles = ceil_div(width, cost.pixels)
    if height == 1:
        rows, row = batch * sheets(channels), RowCost.of(cost, tiles, 1)
    else:
        rows = batch * height
        row = RowCost.of(cost, tiles * sheets(channels), sheets(channels))
    return NodeWork((row_stage(rows, row, target.workers, traffic, target.l2_bytes),), "kernel")
