"""Conversions between flat codes and d32, around DSP subnets and before first-layer kernels.

Images of less than a slice of channels are converted pixel by pixel in scalar code. The public
version of Hexagon NN has vector loops for them, but three 1x1 convolutions on sd865 are too slow
for these: of one channel over 256x256 and 1024x1024 pixels (measured_latency.csv), and of twelve
over 1024x1024 (op_latency.csv). So the scalar loop is inferred from them.

At the edges of the tensor engine, the executor's thread has no vectors and converts everything so.
There, tanh of 1024 x 3072 codes takes 1.6 ms longer than on HVX (op_latency.csv; inferred).

Convert: from one width of codes to another, over the same range.
"""

import math
from collections.abc import Callable

from hexsim.graph.batches import as_nhwc
from hexsim.graph.ir import Shape
from hexsim.hvx.kernels._blocking import loop_work, loops_work, per_vector_stage, row_stage
from hexsim.hvx.kernels._model import KernelModel, Models, Target, is_16bit, twice_stage
from hexsim.hvx.layout import DEPTH_SLICE, PIXELS, depth_slices, is_spatial, row_vectors
from hexsim.hvx.streams import Kernel, listed, movement
from hexsim.layers import Convert
from hexsim.planning.plan import KernelCall
from hexsim.timing.memory import Traffic
from hexsim.timing.work import NodeWork, Stage, WorkItem

_THREADS = 2
"""Threads of layout changes (assumed)."""
_DOUBLE_WORD = 8
"""Bytes that one scalar load takes at most (by definition)."""
_GROUP_PACKETS = 5
"""Addresses and loops of four pixels of all slices (Hexagon NN, from_d32_h.S; inferred)."""
_ROW_PACKETS = 2
"""The next row (the same source; inferred)."""


def to_d32(shape: Shape, target: Target, traffic: Traffic, bits: int = 8) -> Stage | None:
    """Return the conversion of flat codes to d32; None for a tensor without spatial axes."""
    return _change(shape, into_d32, target, traffic, bits)


def from_d32(shape: Shape, target: Target, traffic: Traffic, bits: int = 8) -> Stage | None:
    """Return the conversion of codes from d32; None for a tensor without spatial axes."""
    return _change(shape, out_of_d32, target, traffic, bits)


def into_d32(shape: Shape, target: Target) -> WorkItem:
    """Return the cost of a row of a conversion to d32.

    Four slices are a pass with four stores for four loads. One or two slices take four loads too,
    and three are computed as four if there is another one before them.
    """
    _, _, width, channels = as_nhwc(shape)
    machine, groups = target.machine, row_vectors(width)
    whole, rest = divmod(depth_slices(channels), 4)
    if rest == 3 and whole:
        whole, rest = whole + 1, 0
    row = loop_work(listed("to_d32", machine).cost, groups * whole)
    for count in (2, 1):
        if rest & count:
            row += loop_work(movement.to_d32_edge(machine, count).cost, groups)
    return row


def out_of_d32(shape: Shape, target: Target) -> WorkItem:
    """Return the cost of a row of a conversion from d32.

    Four pixels are a pass over whole groups of four slices, then one over the rest. One slice is in
    the flat order already, and copied.
    """
    _, _, width, channels = as_nhwc(shape)
    groups = row_vectors(width)
    if channels == DEPTH_SLICE:
        return loop_work(listed("copy", target.machine).cost, groups)
    whole, rest = divmod(channels, 4 * DEPTH_SLICE)
    row = loop_work(listed("from_d32", target.machine).cost, groups * whole)
    if rest:
        row += loop_work(listed("from_d32_edge", target.machine).cost, groups)
    return row + WorkItem(_GROUP_PACKETS * groups + _ROW_PACKETS)


def _change(
    shape: Shape,
    cost_of_row: Callable[[Shape, Target], WorkItem],
    target: Target,
    traffic: Traffic,
    bits: int,
) -> Stage | None:
    batch, height, _, channels = as_nhwc(shape)
    if channels < DEPTH_SLICE:
        return in_scalar_code(shape, target, traffic, bits, _THREADS)
    if not is_spatial(shape):
        return None
    stage = row_stage(batch * height, cost_of_row(shape, target), _THREADS, traffic, target)
    return stage if bits == 8 else twice_stage(stage)


def in_scalar_code(
    shape: Shape, target: Target, traffic: Traffic, bits: int, threads: int = 1
) -> Stage | None:
    """Return the conversion to d32 or back by threads without vectors; None as above."""
    if not is_spatial(shape):
        return None
    pixel = loops_work(scalar_copies(shape, target, bits))
    return row_stage(math.prod(as_nhwc(shape)[:3]), pixel, threads, traffic, target)


def scalar_copies(shape: Shape, target: Target, bits: int = 8) -> list[tuple[Kernel, int]]:
    """Return the loops that copy the slices of a pixel, with how often each runs.

    They copy double words if all slices are aligned, and bytes if not.
    """
    channels = as_nhwc(shape)[3]
    unit = 1 if channels * bits % (8 * _DOUBLE_WORD) else _DOUBLE_WORD
    slices = ((DEPTH_SLICE, channels // DEPTH_SLICE), (channels % DEPTH_SLICE, 1))
    return [
        (listed("scalar_copy", target.machine, count=size * bits // 8 // unit), count)
        for size, count in slices
        if size and count
    ]


def streams(call: KernelCall, target: Target) -> tuple[Kernel, ...]:
    """Return the loop of the direction."""
    return (listed("widen" if is_16bit(call) else "narrow", target.machine),)


def work(call: KernelCall, target: Target, traffic: Traffic) -> NodeWork:
    """Share the rows among the workers; an image of up to four channels is flat."""
    (kernel,) = streams(call, target)
    shape = call.results[0]
    if as_nhwc(shape)[3] <= PIXELS:
        shape = (math.prod(shape),)
    stage = per_vector_stage(shape, kernel.cost, target.workers, traffic, target)
    return NodeWork((stage,), "kernel")


MODELS: Models = {Convert: KernelModel(streams, work, takes_16_bits=True)}
