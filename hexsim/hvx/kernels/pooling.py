"""Pooling: maximum and average, windows and whole images.

The 3x3 loops compute two output rows at once; if the number of rows is odd, the last one costs as
much as two. A global average sums the image once per sheet of channels and divides once.

Source: Hexagon NN, maxpool_3x3s2_d32.S, maxpool_d32.S, avgpool_d32.S, op_avgpool_d32.c.
"""

from __future__ import annotations

from hexsim.graph.nhwc import as_nhwc
from hexsim.hvx.kernels import _loops
from hexsim.hvx.kernels._blocking import RowCost, row_stage
from hexsim.hvx.kernels._model import KernelModel, Models
from hexsim.hvx.kernels._target import Target
from hexsim.hvx.layout import PIXELS, ceil_div, row_vectors, sheets
from hexsim.hvx.streams import Kernel, pooling
from hexsim.layers import Pooling
from hexsim.planning.plan import KernelCall
from hexsim.timing.memory import Traffic
from hexsim.timing.work import NodeWork


def streams(call: KernelCall, target: Target) -> tuple[Kernel, ...]:
    """Return the loop of the window; for a global average the sum, then the division."""
    layer, machine = call.layer, target.machine
    assert isinstance(layer, Pooling)
    kernel, strides = layer.window.kernel, layer.window.strides
    if layer.kind == "max":
        return (_loops.max_pool(machine, kernel, strides),)
    if _is_global(call):
        return (pooling.global_average(machine), pooling.average_any(machine, 1))
    return (_loops.average_pool(machine, kernel, strides),)


def work(call: KernelCall, target: Target, traffic: Traffic) -> NodeWork:
    """Share the output rows among the workers; a pooling to one row is cut by sheets."""
    cost = streams(call, target)[0].cost
    batch, height, width, channels = as_nhwc(call.results[0])
    tiles = row_vectors(width)
    if _is_global(call):
        rows, row = batch * sheets(channels), _global_sheet(call, target)
    elif height == 1:
        rows, row = batch * sheets(channels), RowCost.of(cost, tiles, 1)
    else:
        rows = batch * ceil_div(height, cost.pixels // PIXELS)
        row = RowCost.of(cost, tiles * sheets(channels), sheets(channels))
    workers = target.workers_of(target.workers)
    stage = row_stage(rows, row, workers, traffic, target.l2_bytes, streams=workers)
    return NodeWork((stage,), "kernel")


def _is_global(call: KernelCall) -> bool:
    layer = call.layer
    assert isinstance(layer, Pooling)
    _, height, width, _ = as_nhwc(call.operands[0])
    return layer.kind == "average" and layer.is_global(height, width)


def _global_sheet(call: KernelCall, target: Target) -> RowCost:
    """Return the cost of a pass over the image of one sheet, then one division."""
    total, division = streams(call, target)
    _, height, width, _ = as_nhwc(call.operands[0])
    image = RowCost.of(total.cost, height * row_vectors(width), 1)
    return image + RowCost.of(division.cost, 1)


MODELS: Models = {Pooling: KernelModel(streams, work)}
