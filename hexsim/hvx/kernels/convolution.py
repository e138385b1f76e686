"""Dense convolution: weight groups, rows per call, and the kernel of each vector version.

Hexagon NN computes 32 output channels (a slice of weights) at a time. Slices are prefetched in
groups, in order; inside a group the output rows are cut in equal parts for the workers. If the
activations are not in L2 they are read again for every group.

Left out: what a dilated window costs more than a dense one of the same taps.

Sources: Hexagon NN, hexagon/ops/src/op_supernode_new.c (lines 594-1160, 2599-2765, 4596-4616).
"""

from __future__ import annotations

from dataclasses import dataclass

from hexsim.hvx.kernels import _counted as counted
from hexsim.hvx.kernels._blocking import RowCost, blocks, cut_evenly, parts
from hexsim.hvx.kernels._target import Target
from hexsim.hvx.layout import PIXELS, SHEET, VECTOR_BYTES, as_nhwc, ceil_div, row_vectors, sheets
from hexsim.layers import Convolution
from hexsim.memory import Traffic
from hexsim.plan import KernelCall
from hexsim.work import NodeWork, Slice, Stage, WorkItem

_KB = 1024
_V60_GROUP_BYTES = 128 * _KB
_V60_CALL_LINES = 32 * _KB
_V66_CALL_LINES = 28 * _KB
_SIX_WIDE = frozenset({11, 12, 17, 18, 35, 36})
"""Output widths for which V65 takes the six-pixel kernels."""
_MOST_SLICES = 32
"""Prefetches that one layer is simulated in at most, unless it has more weight groups."""
_BIAS_BYTES = 4


@dataclass(frozen=True)
class DenseShape:
    """A dense convolution: batch folded into the rows of the output."""

    in_height: int
    in_width: int
    in_channels: int
    rows: int
    width: int
    channels: int
    kernel: tuple[int, int]
    strides: tuple[int, int]

    @property
    def depth_rows(self) -> int:
        """Filter height times sheets of input channels."""
        return self.kernel[0] * sheets(self.in_channels)

    @property
    def is_input(self) -> bool:
        """True if the first-layer kernel takes it: so few channels that they are padded to 4."""
        return self.in_channels <= 4

    @property
    def slice_bytes(self) -> int:
        """Weights of 32 output channels, padded as they are stored."""
        depth = 4 if self.is_input else sheets(self.in_channels) * SHEET
        return SHEET * (self.kernel[0] * self.kernel[1] * depth + _BIAS_BYTES)

    @property
    def line_bytes(self) -> int:
        """One row of input in d32."""
        return row_vectors(self.in_width) * sheets(self.in_channels) * VECTOR_BYTES

    @classmethod
    def of(cls, call: KernelCall, layer: Convolution) -> DenseShape:
        """Shape of one group of `layer`."""
        batch, in_height, in_width, in_channels = as_nhwc(call.operands[0])
        _, height, width, channels = as_nhwc(call.results[0])
        return cls(
            in_height=batch * in_height,
            in_width=in_width,
            in_channels=in_channels // layer.groups,
            rows=batch * height,
            width=width,
            channels=channels // layer.groups,
            kernel=layer.window.kernel,
            strides=layer.window.strides,
        )


def work(call: KernelCall, target: Target, traffic: Traffic) -> NodeWork:
    """Blocks and costs of a convolution that is neither grouped nor depthwise."""
    assert isinstance(call.layer, Convolution)
    shape = DenseShape.of(call, call.layer)
    return NodeWork((dense_stage(shape, target, traffic),), "kernel")


def dense_stage(shape: DenseShape, target: Target, traffic: Traffic) -> Stage:
    """Return the work of one dense convolution."""
    group = _slices_per_group(shape, target)
    groups = list(_cut_whole(sheets(shape.channels), group))
    limit = max(1, _MOST_SLICES // len(groups))
    cut = blocks(shape.rows, traffic, target.l2_bytes)
    if len(cut) > limit:
        cut = list(parts(shape.rows, limit))
    reads = cut_evenly(traffic.read_bytes, cut)
    group_writes = cut_evenly(traffic.write_bytes, groups)
    pieces = []
    for number, (slices, group_write) in enumerate(zip(groups, group_writes, strict=True)):
        row, once = _group_cost(shape, target, slices, first=number == 0)
        writes = cut_evenly(group_write, cut)
        for place, (block, read, write) in enumerate(zip(cut, reads, writes, strict=True)):
            weights = 0 if place else slices * shape.slice_bytes
            jobs = list(parts(block, target.workers))
            extra = RowCost() if place else once
            items = tuple(
                _with(row.item(rows, _call_packets(shape, target, slices, rows)), extra, len(jobs))
                for rows in jobs
            )
            pieces.append(Slice(items, weights + read, write))
    return Stage(tuple(pieces), target.workers)


def _with(item: WorkItem, once: RowCost, jobs: int) -> WorkItem:
    """Add to one of `jobs` jobs its part of the work that a whole group needs once."""
    return WorkItem(
        item.packets + ceil_div(once.packets, jobs),
        item.scalar_fed + ceil_div(once.scalar_fed, jobs),
        item.l2_bytes + ceil_div(once.l2_bytes, jobs),
        item.vtcm_bytes + ceil_div(once.vtcm_bytes, jobs),
    )


def _cut_whole(total: int, size: int) -> list[int]:
    """Cut `total` in parts of `size`, the last one smaller."""
    return [min(size, total - begin) for begin in range(0, total, size)]


def _generation(shape: DenseShape, target: Target) -> str:
    """The kernel family that runs: an older one if weights or stride do not suit the newest."""
    if target.version in ("v65", "v66") and shape.slice_bytes > target.vtcm_bytes:
        return "v60"
    if target.version == "v66" and shape.strides[1] > 2:
        return "v60"
    return "v60" if target.version == "v62" else target.version


def _slices_per_group(shape: DenseShape, target: Target) -> int:
    if shape.is_input:
        return sheets(shape.channels)
    if _generation(shape, target) == "v60":
        return max(1, _V60_GROUP_BYTES // shape.slice_bytes)
    fit = max(1, target.vtcm_bytes // shape.slice_bytes)
    return fit - fit % 2 if 2 <= fit < sheets(shape.channels) else fit


def _group_cost(
    shape: DenseShape, target: Target, slices: int, *, first: bool
) -> tuple[RowCost, RowCost]:
    """Cost of one output row for a group of slices, and what the group costs once."""
    fw, depth_rows = shape.kernel[1], shape.depth_rows
    in_vectors = row_vectors(shape.in_width) * sheets(shape.in_channels)
    if shape.is_input:
        cost = counted.conv_input(shape.kernel, shape.strides[0])
        copied = ceil_div(shape.in_height * shape.in_width * 4, VECTOR_BYTES)
        once = RowCost.of(counted.RGB_TO_DEPTH_4, copied)
        return RowCost.of(cost, slices * row_vectors(shape.width)), once
    generation = _generation(shape, target)
    if generation == "v60":
        cost = counted.conv_v60(fw, depth_rows)
        row, once = RowCost.of(cost, slices * row_vectors(shape.width)), RowCost()
        if first and not target.signed_weights:
            sums = counted.activation_sums(fw, shape.kernel[0])
            pixels = shape.in_height * ceil_div(shape.in_width, PIXELS)
            once = RowCost.of(sums, shape.in_height * in_vectors, pixels)
        return row, once
    copy = RowCost.of(counted.WEIGHTS_TO_VTCM, slices * shape.slice_bytes // VECTOR_BYTES)
    if generation == "v66":
        cost = counted.conv_v66(fw, depth_rows, shape.strides[1])
        return RowCost.of(cost, slices * row_vectors(shape.width)), copy
    pair = (counted.conv_v65_pair_six if shape.width in _SIX_WIDE else counted.conv_v65_pair)(
        fw, depth_rows
    )
    single = counted.conv_v65_single(fw, depth_rows)
    row = RowCost.of(pair, slices // 2 * ceil_div(shape.width, pair.pixels))
    row += RowCost.of(single, slices % 2 * ceil_div(shape.width, single.pixels))
    return row, copy + RowCost.of(counted.CIRCULAR_BUFFER, shape.in_height * in_vectors)


def _call_packets(shape: DenseShape, target: Target, slices: int, rows: int) -> int:
    """Entry and exit of the kernel calls of one job."""
    if shape.is_input:
        return counted.conv_input(shape.kernel, shape.strides[0]).call * slices
    generation = _generation(shape, target)
    if generation == "v65":
        return counted.conv_v65_pair(1, 1).call * rows
    lines = _V60_CALL_LINES if generation == "v60" else _V66_CALL_LINES
    rows_per_call = max(1, lines // (shape.line_bytes * shape.strides[0]))
    call = counted.conv_v60(1, 1).call if generation == "v60" else counted.conv_v66(1, 1, 1).call
    return call * slices * ceil_div(rows, rows_per_call)
