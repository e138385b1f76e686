"""Pooling, resizes and colour conversion.

The 3x3 loops of pooling compute two output rows at once; an odd last one costs as much as two. A
global average sums the image once per slice of channels and divides once. A maximum over any other
window takes the maxima along each row of the input, then down the columns of these. Source: Hexagon
NN, maxpool_3x3s2_d32.S, maxpool_d32.S, avgpool_d32.S, op_avgpool_d32.c, op_maxpool_d32.c and
hmaxpool_d32.c, whose loops for two or three columns are left out; packets around the loops: their
sources, and tests/hexagon_nn/packets.

SNPE's documentation calls only these resizes fast: twice the size, and a depth of at least a vector
or, with the width, a power of two. For others nearest costs as much as moving elements, bilinear as
much as averaging four taps, both reported as generic. Source: Hexagon NN, resizebilinear_d32_h.S
(two threads at most); it has no loops with pixel centres and of nearest pixels.

Colour conversion works row by row on a flat picture, three bytes per pixel, as the first-layer
kernel of a convolution reads it. Hexagon NN has no such kernel to compare with.
"""

from collections.abc import Callable

from hexsim.graph.batches import as_nhwc
from hexsim.hvx.kernels._blocking import (
    loop_work,
    loops_work,
    per_vector_stage,
    row_stage,
)
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

Pair = tuple[int, int]

_JOB_PACKETS = 60
"""Packets of the entry and exit of a pooling's job, and of the addresses of its slice.

As for the packets below, source: the files named above, in packets counted while they run for the
rows of tests/hexagon_nn/packets. Confidence: counted for V60, V65 and V66, assumed for others.
"""
_LOOPS: dict[tuple[str, Pair, Pair], tuple[str, Callable[[int], int], int]] = {
    ("max", (3, 3), (2, 2)): ("max_3x3_s2", row_vectors, 12),
    ("max", (2, 2), (2, 2)): ("max_2x2_s2", padded_vectors, 6),
    ("max", (3, 3), (1, 1)): ("max_3x3_s1", padded_vectors, 13),
    ("average", (3, 3), (1, 1)): ("average_3x3_s1", padded_vectors, 13),
}
"""Loops by kind, window and strides, the vectors of a row that they compute, and the packets around
the loop over a row of one slice: loads of parameters and addresses of rows.

Those of 2x2 and 3x3 with the step of the window compute the padding on the left of the output too;
that of 3x3 with stride 2 computes those pixels while it fills its registers. Packets are counted
for the first two, and read from maxpool_d32.S and avgpool_d32.S for the others (inferred).
"""
_ANY_ROW_PACKETS = 2
"""The same for other windows, whose loop is over the taps (inferred)."""
_SUM_ROW_PACKETS = 3
"""Packets of a row of a global average: its address and loop, in C (counted)."""
_SUM_PACKETS = 14
"""Packets of a slice of a global average: its range, which is that of the output (counted)."""


def pooling_loops(
    machine: HvxMachine, kind: str, kernel: Pair, strides: Pair
) -> tuple[Kernel, ...]:
    """Return the loop of a window; other maxima have one across the rows and one down."""
    if loop := _LOOPS.get((kind, kernel, strides)):
        return (listed(loop[0], machine),)
    height, width = kernel
    if kind == "average":
        return (listed("average_any", machine, height * width),)
    across = listed("max_across", machine, passes=(width - 1) // PIXELS)
    return across, listed("max_down", machine, rows=height - 1)


def pooling_streams(call: KernelCall[Pooling], target: Target) -> tuple[Kernel, ...]:
    """Return the loops of the window; for a global average the sum, then the division."""
    layer, machine = call.layer, target.machine
    if layer.kind == "max" and as_nhwc(call.results[0])[1:3] == (1, 1):
        return (listed("max_any", machine, layer.window.taps),)
    if _is_global(call):
        return (listed("global_average", machine), listed("average_any", machine, 1))
    return pooling_loops(machine, layer.kind, layer.window.kernel, layer.window.strides)


def pooling_work(call: KernelCall[Pooling], target: Target, traffic: Traffic) -> NodeWork:
    """Share the output rows among the workers; a pooling to one row is cut by slices."""
    kernels, layer = pooling_streams(call, target), call.layer
    cost = kernels[0].cost
    batch, height, width, channels = as_nhwc(call.results[0])
    other = ("", row_vectors, _ANY_ROW_PACKETS)
    form = layer.kind, layer.window.kernel, layer.window.strides
    _, vectors, around = _LOOPS.get(form, other)
    tiles, slices = vectors(width), depth_slices(channels)
    if _is_global(call):
        rows, row = batch * slices, _global_slice(call, target)
    elif len(kernels) > 1:
        rows, halves = batch * height, as_nhwc(call.operands[0])[1] * ceil_div(width, cost.pixels)
        of_slice = loops_work(zip(kernels, (ceil_div(halves, height), tiles), strict=True))
        row = of_slice.times(slices)
    elif height == 1:
        rows, row = batch * slices, loop_work(cost, tiles) + WorkItem(around)
    else:
        rows = batch * ceil_div(height, cost.pixels // PIXELS)
        row = loop_work(cost, tiles * slices) + WorkItem(around * slices)
    workers, packets = target.workers_of(target.workers), _JOB_PACKETS
    stage = row_stage(rows, row, workers, traffic, target, packets, streams=workers)
    return NodeWork((stage,), "kernel")


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
    stage = per_vector_stage(call.results[0], kernel.cost, _RESIZE_THREADS, traffic, target)
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
    kernels = colour_conversion_streams(call, target)
    row = loops_work((kernel, ceil_div(width, kernel.pixels)) for kernel in kernels)
    row += WorkItem(sum(kernel.cost.row for kernel in kernels))
    stage = row_stage(batch * height, row, target.workers, traffic, target)
    return NodeWork((stage,), "kernel")


MODELS: Models = {
    Pooling: KernelModel(pooling_streams, pooling_work),
    Resize: KernelModel(resize_streams, resize_work),
    ColourConversion: KernelModel(colour_conversion_streams, colour_conversion_work),
}
