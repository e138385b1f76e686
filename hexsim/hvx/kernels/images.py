"""Pooling, resizes and colour conversion.

The 3x3 loops of pooling compute two output rows at once; an odd last one costs as much as two. A
global average sums the image once per slice of channels and divides once. Source: Hexagon NN,
maxpool_3x3s2_d32.S, maxpool_d32.S, avgpool_d32.S, op_avgpool_d32.c; packets around the loops: their
sources, and tests/hexagon_nn/packets.

SNPE's documentation calls only these resizes fast: twice the size, and a depth of at least a vector
or, with the width, a power of two. For others nearest costs as much as moving elements, bilinear as
much as averaging four taps, both reported as generic. Source: Hexagon NN, resizebilinear_d32_h.S
(two threads at most); it has no loops with pixel centres and of nearest pixels.

Colour conversion works row by row on a flat picture, three bytes per pixel, as the first-layer
kernel of a convolution reads it. Hexagon NN has no such kernel to compare with.
"""

from hexsim.graph.batches import as_nhwc
from hexsim.hvx.kernels._blocking import NO_WORK, loop_work, per_vector_stage, row_stage
from hexsim.hvx.kernels._model import KernelModel, Models, Target
from hexsim.hvx.layout import (
    PIXELS,
    VECTOR_BYTES,
    ceil_div,
    depth_slices,
    padded_vectors,
    row_vectors,
)
from hexsim.hvx.streams import HvxMachine, Kernel, listed, movement
from hexsim.layers import ColourConversion, Pooling, Resize
from hexsim.planning.plan import KernelCall
from hexsim.timing.memory import Traffic
from hexsim.timing.work import NodeWork, WorkItem

_JOB_PACKETS = 60
"""Packets of the entry and exit of a pooling's job, and of the addresses of its slice.

As for the packets below, source: the files named above, in packets counted while they run for the
rows of tests/hexagon_nn/packets. Confidence: counted for V60, V65 and V66, assumed for others.
"""
_ROW_PACKETS = {"max 3x3:s2": 12, "max 2x2:s2": 6, "3x3:s1": 13, "any": 2}
"""Packets around the loop over a row of one slice: loads of parameters and addresses of rows.

Counted for the forms of `max`; for 3x3 with stride 1 and for other windows, which loop over the
taps, read from maxpool_d32.S and avgpool_d32.S (inferred).
"""
_SUM_ROW_PACKETS = 3
"""Packets of a row of a global average: its address and loop, in C (counted)."""
_SUM_PACKETS = 14
"""Packets of a slice of a global average: its range, which is that of the output (counted)."""


def max_pool(machine: HvxMachine, kernel: tuple[int, int], strides: tuple[int, int]) -> Kernel:
    """Return the loop of one of three windows, or that of one vector per window element."""
    if kernel == (3, 3) and strides == (2, 2):
        return listed("max_3x3_s2", machine)
    if kernel == (3, 3) and strides == (1, 1):
        return listed("max_3x3_s1", machine)
    if kernel == (2, 2) and strides == (2, 2):
        return listed("max_2x2_s2", machine)
    return listed("max_any", machine, kernel[0] * kernel[1])


def average_pool(machine: HvxMachine, kernel: tuple[int, int], strides: tuple[int, int]) -> Kernel:
    """Return the loop of 3x3 with stride 1, or that of one vector per window element."""
    if kernel == (3, 3) and strides == (1, 1):
        return listed("average_3x3_s1", machine)
    return listed("average_any", machine, kernel[0] * kernel[1])


def pooling_streams(call: KernelCall[Pooling], target: Target) -> tuple[Kernel, ...]:
    """Return the loop of the window; for a global average the sum, then the division."""
    layer, machine = call.layer, target.machine
    kernel, strides = layer.window.kernel, layer.window.strides
    if layer.kind == "max":
        return (max_pool(machine, kernel, strides),)
    if _is_global(call):
        return (listed("global_average", machine), listed("average_any", machine, 1))
    return (average_pool(machine, kernel, strides),)


def pooling_work(call: KernelCall[Pooling], target: Target, traffic: Traffic) -> NodeWork:
    """Share the output rows among the workers; a pooling to one row is cut by slices."""
    cost = pooling_streams(call, target)[0].cost
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
        return row_vectors(width), _ROW_PACKETS["max 3x3:s2"]
    if layer.kind == "max" and form == ((2, 2), (2, 2)):
        return padded_vectors(width), _ROW_PACKETS["max 2x2:s2"]
    if form == ((3, 3), (1, 1)):
        return padded_vectors(width), _ROW_PACKETS["3x3:s1"]
    return row_vectors(width), _ROW_PACKETS["any"]


def _is_global(call: KernelCall[Pooling]) -> bool:
    layer = call.layer
    _, height, width, _ = as_nhwc(call.operands[0])
    return layer.kind == "average" and layer.is_global(height, width)


def _global_slice(call: KernelCall[Pooling], target: Target) -> WorkItem:
    """Return the cost of a pass over the image of one slice, then one division."""
    total, division = pooling_streams(call, target)
    _, height, width, _ = as_nhwc(call.operands[0])
    image = loop_work(total.cost, height * row_vectors(width), 1)
    around = _SUM_ROW_PACKETS * height + _SUM_PACKETS
    return image + loop_work(division.cost, 1) + WorkItem(around)


_RESIZE_THREADS = 2
"""At most (source: Hexagon NN, resizebilinear_d32_h.S and its caller; documented)."""
_TAPS = 4
"""Pixels that a bilinear result is made of, for the generic cost (assumed)."""


def resize_streams(call: KernelCall[Resize], target: Target) -> tuple[Kernel, ...]:
    """Return the loop for twice the size, or one with the cost of other sizes."""
    return (_by_two(call, target) or _any(call, target),)


def resize_work(call: KernelCall[Resize], target: Target, traffic: Traffic) -> NodeWork:
    """Share the rows of the result among the threads."""
    (kernel,) = resize_streams(call, target)
    threads = min(_RESIZE_THREADS, target.workers)
    stage = per_vector_stage(call.results[0], kernel.cost, threads, traffic, target.l2_bytes)
    return NodeWork((stage,), "kernel" if _by_two(call, target) else "generic")


def _by_two(call: KernelCall[Resize], target: Target) -> Kernel | None:
    layer = call.layer
    _, height, width, channels = call.operands[0]
    powers = not (channels & (channels - 1) or width & (width - 1))
    if layer.scales_of(height, width) != (2, 2) or (channels < VECTOR_BYTES and not powers):
        return None
    centred = layer.coordinates in ("half_pixel", "pytorch_half_pixel")
    if layer.kind == "nearest":
        return listed("nearest_by_two", target.machine)
    if centred:
        return listed("bilinear_by_two_centred", target.machine)
    return listed("bilinear_by_two", target.machine) if layer.coordinates == "asymmetric" else None


def _any(call: KernelCall[Resize], target: Target) -> Kernel:
    if call.layer.kind == "nearest":
        return listed("table", target.machine)
    return listed("average_any", target.machine, _TAPS)


def colour_conversion_streams(
    call: KernelCall[ColourConversion], target: Target
) -> tuple[Kernel, ...]:
    """Return a permutation of bytes, or the matrix of NV21 and the interleaving of its colours."""
    machine = target.machine
    if call.layer.channels is None:
        return listed("nv21_colours", machine), listed("weave", machine)
    return (movement.pick_channels(machine, call.operands[0][-1]),)


def colour_conversion_work(
    call: KernelCall[ColourConversion], target: Target, traffic: Traffic
) -> NodeWork:
    """Share the rows of the picture among the workers; each row passes all streams."""
    batch, height, width, _ = call.results[0]
    costs = [kernel.cost for kernel in colour_conversion_streams(call, target)]
    row = NO_WORK
    for cost in costs:
        row += loop_work(cost, ceil_div(width, cost.pixels), 1)
    stage = row_stage(batch * height, row, target.workers, traffic, target.l2_bytes)
    return NodeWork((stage,), "kernel")


MODELS: Models = {
    Pooling: KernelModel(pooling_streams, pooling_work),
    Resize: KernelModel(resize_streams, resize_work),
    ColourConversion: KernelModel(colour_conversion_streams, colour_conversion_work),
}
