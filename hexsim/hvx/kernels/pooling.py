"""Pooling: maximum and average, windows and whole images.

The 3x3 loops compute two output rows at once; if the number of rows is odd, the last one costs as
much as two. A global average sums the image once per slice of channels and divides once.

Source: Hexagon NN, maxpool_3x3s2_d32.S, maxpool_d32.S, avgpool_d32.S, op_avgpool_d32.c;
packets around the loops: their sources, and tests/hexagon_nn/packets.
"""

from hexsim.graph.nhwc import as_nhwc
from hexsim.hvx.kernels import _loops
from hexsim.hvx.kernels._blocking import loop_work, row_stage
from hexsim.hvx.kernels._model import KernelModel, Models
from hexsim.hvx.kernels._target import Target
from hexsim.hvx.layout import PIXELS, ceil_div, depth_slices, padded_vectors, row_vectors
from hexsim.hvx.streams import Kernel, pooling
from hexsim.layers import Pooling
from hexsim.planning.plan import KernelCall
from hexsim.timing.memory import Traffic
from hexsim.timing.work import NodeWork, WorkItem

_JOB_PACKETS = 60
"""Entry and exit of a job, and the addresses of its slice."""
_SUM_ROW_PACKETS = 3
"""A row of a global average: its address and loop, in C."""
_SUM_PACKETS = 14
"""A slice of a global average: its range, which is the range of the output."""


def streams(call: KernelCall[Pooling], target: Target) -> tuple[Kernel, ...]:
    """Return the loop of the window; for a global average the sum, then the division."""
    layer, machine = call.layer, target.machine
    kernel, strides = layer.window.kernel, layer.window.strides
    if layer.kind == "max":
        return (_loops.max_pool(machine, kernel, strides),)
    if _is_global(call):
        return (pooling.global_average(machine), pooling.average_any(machine, 1))
    return (_loops.average_pool(machine, kernel, strides),)


def work(call: KernelCall[Pooling], target: Target, traffic: Traffic) -> NodeWork:
    """Share the output rows among the workers; a pooling to one row is cut by slices."""
    cost = streams(call, target)[0].cost
    batch, height, width, channels = as_nhwc(call.results[0])
    tiles, around = _row_tiles(call, width)
    slices = depth_slices(channels)
    if _is_global(call):
        rows, row = batch * slices, _global_slice(call, target)
    elif height == 1:
        rows, row = batch * slices, loop_work(cost, tiles) + WorkItem(around)
    else:
        rows = batch * ceil_div(height, cost.pixels // PIXELS)
        row = loop_work(cost, tiles * slices) + WorkItem(around * slices)
    workers, packets = target.workers_of(target.workers), _JOB_PACKETS
    stage = row_stage(rows, row, workers, traffic, target.l2_bytes, packets, streams=workers)
    return NodeWork((stage,), "kernel")


def _row_tiles(call: KernelCall[Pooling], width: int) -> tuple[int, int]:
    """Return the tiles of a row of one slice, and the packets around its loop.

    The loops of 2x2 and 3x3 with the step of the window compute the padding on the left of the
    output too; that of 3x3 with stride 2 computes those pixels while it fills its registers.
    """
    layer = call.layer
    form = layer.window.kernel, layer.window.strides
    if layer.kind == "max" and form == ((3, 3), (2, 2)):
        return row_vectors(width), 12
    if layer.kind == "max" and form == ((2, 2), (2, 2)):
        return padded_vectors(width), 6
    if form == ((3, 3), (1, 1)):
        return padded_vectors(width), 13
    return row_vectors(width), 2


def _is_global(call: KernelCall[Pooling]) -> bool:
    layer = call.layer
    _, height, width, _ = as_nhwc(call.operands[0])
    return layer.kind == "average" and layer.is_global(height, width)


def _global_slice(call: KernelCall[Pooling], target: Target) -> WorkItem:
    """Return the cost of a pass over the image of one slice, then one division."""
    total, division = streams(call, target)
    _, height, width, _ = as_nhwc(call.operands[0])
    image = loop_work(total.cost, height * row_vectors(width), 1)
    around = _SUM_ROW_PACKETS * height + _SUM_PACKETS
    return image + loop_work(division.cost, 1) + WorkItem(around)


MODELS: Models = {Pooling: KernelModel(streams, work)}
