"""Depthwise convolution: a vector loop over rows, and rearrangements for other windows.

The d32 layout pads the channels, so any number of them is supported; SNPE's documentation promises
speed only for multiples of 32, but MobileNetV2, with its 144 channels, is measured to run fast. On
V66 the measured times show that the loops take several times their packets:
`kernels.depthwise_stall_v66` is that factor, whose cause is not known (docs/concepts/kernels.md).
The biases are added to the sums of the weights anew in each inference, by the main thread.

The loops support filters 3, 5 and 7 taps wide, any height and vertical step, and steps of 1 or 2
along a row; other widths are filled up with zero taps. Other windows are rewritten, as Hexagon NN
and its graphs do:

- dilation: SpaceToBatch, the loop over images of neighbouring taps, BatchToSpace;
- a filter too wide, or a step above 2 along the row, but not down the column: height and width
  are exchanged before and after;
- a filter too wide in both directions: pieces of 7 columns, summed up;
- steps above 2 in both directions: more positions are computed than needed, and some are dropped;
- several outputs per channel: one chunk of filters after another, then interleaved channels.

Moving pixels or channels costs a table lookup per vector, in place of loops that are not published.

Sources: Hexagon NN, op_dwise_snode_8bit.c (widths, steps, chunks); packets around the loops from
tests/hexagon_nn/packets; TensorFlow's SpaceToBatchND; swapped axes inferred from the loops'
independent vertical step.
"""

from __future__ import annotations

from hexsim.graph.batches import as_nhwc
from hexsim.hvx.kernels._blocking import loop_work, per_vector_stage, row_stage
from hexsim.hvx.kernels._model import KernelMemory, KernelModel, Target, is_16bit, twice
from hexsim.hvx.layout import DEPTH_SLICE, PIXELS, ceil_div, depth_slices, row_vectors
from hexsim.hvx.streams import Kernel, convolution, listed
from hexsim.layers import Convolution
from hexsim.planning.plan import KernelCall
from hexsim.records import dataclass, replace
from hexsim.timing.memory import Traffic
from hexsim.timing.work import NodeWork, Stage, WorkItem

_WIDTHS = (3, 5, 7)
_MOST_WIDE = _WIDTHS[-1]
_STEPS = (1, 2)
"""Filters and steps along a row for which there are loops (documented)."""


@dataclass(frozen=True)
class DepthwiseForm:
    """A run of a loop, and the rearrangements around it.

    kernel, step: of the loop. rows, width: output positions that it computes, over all images.
    chunks: runs of the loop. moved_before, moved_after: whether input and output are rearranged.
    """

    kernel: tuple[int, int]
    step: int
    rows: int
    width: int
    chunks: int
    moved_before: bool
    moved_after: bool

    @property
    def is_direct(self) -> bool:
        """Whether the loop supports the layer directly."""
        return self.chunks == 1 and not self.moved_before and not self.moved_after

    @classmethod
    def of(cls, call: KernelCall[Convolution]) -> DepthwiseForm:
        """Return the form of a depthwise convolution."""
        window = call.layer.window
        batch, rows, width, channels = as_nhwc(call.results[0])
        multiplier = channels // call.operands[0][-1]
        (height, wide), (down, along) = window.kernel, window.strides
        dilated = window.dilations != (1, 1)
        if dilated:  # phases are computed at every position, whatever the strides
            rows, width, down, along = rows * down, width * along, 1, 1
        swapped = _misfit(wide, along) and not _misfit(height, down)
        if swapped:
            height, wide, down, along, rows, width = wide, height, along, down, width, rows
        step = along if along in _STEPS else 2 - along % 2
        pieces = ceil_div(wide, _MOST_WIDE)
        rearranged = dilated or swapped
        return cls(
            kernel=(height, _filled(ceil_div(wide, pieces))),
            step=step,
            rows=batch * rows,
            width=width * (along // step),
            chunks=pieces * multiplier,
            moved_before=rearranged,
            moved_after=rearranged or multiplier > 1 or along != step,
        )


def _misfit(width: int, step: int) -> bool:
    return width > _MOST_WIDE or step not in _STEPS


def _filled(width: int) -> int:
    """Return the narrowest filter of a loop with at least `width` taps."""
    return next(wide for wide in _WIDTHS if wide >= width)


_TAPS = 4
"""Taps of a row that are packed together."""
_SHEET_PACKETS = 7
"""Packets before the loop over a row of a slice: loads of three rows and of the filter
(inferred from those counted of whole layers, as the next ones)."""
_WIDE_PACKETS = 11
"""The same for filters other than 3x3 (inferred)."""
_ROW_PACKETS = 19 + 23
"""Entry and exit of the kernel, which is called for every row, and of its caller in C
(inferred)."""
_JOB_PACKETS = 300
"""A job: its minimum and maximum, its share of zeroing borders, the list of work items
(inferred)."""
_MAIN_PACKETS = 1_137
"""Main thread: strategy and copy of the work items, beyond executing a node (inferred)."""
_SHEET_BIASES = {60: 520, 65: 520, 66: 616}
"""Main thread: biases of 32 channels and the copy of their node, by architecture (inferred)."""


def streams(call: KernelCall[Convolution], target: Target) -> tuple[Kernel, ...]:
    """Return the vector loop, and a table lookup for moving pixels or channels around it."""
    form = DepthwiseForm.of(call)
    loop = _loop(form, target)
    return (loop,) if form.is_direct else (loop, listed("table", target.machine))


def _loop(form: DepthwiseForm, target: Target) -> Kernel:
    """Return the loop of 3x3 in one pass, or that of 3, 5 and 7 wide filters row by row."""
    if form.kernel == (3, 3):
        return convolution.three_by_three(target.machine, form.step)
    return convolution.by_rows(target.machine, *form.kernel, form.step)


def work(call: KernelCall[Convolution], target: Target, traffic: Traffic) -> NodeWork:
    """Share the rows among the workers; move pixels before and after if needed."""
    form = DepthwiseForm.of(call)
    stages = [_rows(call, form, target, traffic)]
    if form.moved_before:
        reads = traffic.part(is_first=True, is_last=False)
        stages.insert(0, _moved(call.operands[0], target, reads))
    if form.moved_after:
        writes = traffic.part(is_first=False, is_last=True)
        stages.append(_moved(call.results[0], target, writes))
    nodes = len(stages) - 1 + form.chunks
    biases = _SHEET_BIASES[min(max(target.version, 60), 66)] if target.version != 62 else 520
    main = (_MAIN_PACKETS + biases * depth_slices(call.results[0][-1])) * form.chunks
    work = NodeWork(tuple(stages), "kernel" if form.is_direct else "generic", nodes, main)
    return twice(work) if is_16bit(call) else work


def _rows(
    call: KernelCall[Convolution], form: DepthwiseForm, target: Target, traffic: Traffic
) -> Stage:
    """Return the loop over the rows of all images, once for each chunk of filters."""
    cost, depth = _loop(form, target).cost, depth_slices(call.operands[0][-1])
    is_square = form.kernel == (3, 3)
    tiles = depth * row_vectors(form.width + (_left(call, form) if is_square else 0)) * form.chunks
    around = depth * (_SHEET_PACKETS if is_square else _WIDE_PACKETS) + _ROW_PACKETS
    row = loop_work(replace(cost, row=0), tiles) + WorkItem(around * form.chunks)
    waiting = round((target.depthwise_stall - 1.0) * (row.packets + row.stalls))
    row = replace(row, stalls=row.stalls + waiting)
    reads = Traffic() if form.moved_before else traffic.part(is_first=True, is_last=False)
    writes = Traffic() if form.moved_after else traffic.part(is_first=False, is_last=True)
    moved = (reads + writes).reading(call.parameter_bytes)
    return row_stage(form.rows, row, target.workers, moved, target, _JOB_PACKETS)


def _left(call: KernelCall[Convolution], form: DepthwiseForm) -> int:
    """Return the pixels left of a row of the output that the 3x3 loop computes.

    The loop begins with the four pixels of padding on the left of the input, less those that the
    filter reads.
    """
    return ceil_div(max(0, PIXELS - call.layer.window.pads[1]), form.step)


def _moved(shape: tuple[int, ...], target: Target, traffic: Traffic) -> Stage:
    cost = listed("table", target.machine).cost
    return per_vector_stage(shape, cost, target.workers, traffic, target)


def memory(call: KernelCall[Convolution], target: Target) -> KernelMemory:
    """Return the bytes of filters, packed in whole groups of taps and slices of channels."""
    layer = call.layer
    height, width = layer.window.kernel
    channels = call.operands[0][-1]
    multiplier = call.results[0][-1] // channels
    taps = height * ceil_div(width, _TAPS) * _TAPS
    packed = taps * multiplier * depth_slices(channels) * DEPTH_SLICE
    return KernelMemory(call.parameter_bytes, packed)


MODEL = KernelModel(streams, work, memory, takes_16_bits=True)
