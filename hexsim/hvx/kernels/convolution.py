"""Dense convolution: weight groups, rows per call, and the kernel of each vector version.

Hexagon NN computes 32 output channels (a slice of weights) at a time. Slices are prefetched in
groups, in order; inside a group the output rows are cut in equal parts for the workers. On V66 the
weights are copied to VTCM: all at once if they fit, otherwise VTCM is a ring of slices, each with
jobs of its own, and the copy of a slice begins when the jobs of the one in its place are done. So
an image of one row has as many workers as there are slices in the ring. Activations that do not fit
L2 are read again for every group or slice; workers prefetch the rows of their jobs.

Left out: the additional cost of dilated windows over dense ones of the same taps, and of strided
ones over dense ones of the same output (Hexagon NN: one packet per row of taps on V66).

Sources: Hexagon NN, hexagon/ops/src/op_supernode_new.c (lines 594-1160, 2599-2765, 4596-4616).
"""

from __future__ import annotations

from functools import cached_property
from typing import Literal

from hexsim.datasheets.chips import MOST_FIRST_LAYER_CHANNELS, slice_bytes
from hexsim.graph.batches import as_nhwc
from hexsim.hvx.kernels import _dense_packets as packets
from hexsim.hvx.kernels._blocking import NO_WORK, blocks, cut_evenly, loops_work, parts
from hexsim.hvx.kernels._dense_packets import Around
from hexsim.hvx.kernels._model import KernelMemory, KernelModel, Target, is_16bit, twice_stage
from hexsim.hvx.layout import DEPTH_SLICE, PIXELS, VECTOR_BYTES, ceil_div, depth_slices, row_vectors
from hexsim.hvx.streams import Kernel, convolution, listed, movement, sixteen_bit
from hexsim.hvx.streams import convolution as forms
from hexsim.layers import Convolution
from hexsim.planning.plan import KernelCall
from hexsim.records import dataclass, replace
from hexsim.timing.memory import Traffic
from hexsim.timing.work import CostModel, NodeWork, Slice, Stage, WorkItem

_KB = 1024
_V60_GROUP_BYTES = 128 * _KB
"""Weights of a group on V60 (op_supernode_new.c; documented, as the next four)."""
_V60_CALL_LINES, _V66_CALL_LINES = 32 * _KB, 28 * _KB
"""Bytes of the input rows of a call."""
_SIX_WIDE = frozenset({11, 12, 17, 18, 35, 36})
"""Output widths for which V65 uses the six-pixel kernels."""
_MOST_SLICES = 32
"""The most prefetches of one layer, unless it has more weight groups (assumed)."""
_BIAS_BYTES = 4
_EVEN = 0.67
"""The least rows of the last thread over those of the others for jobs of all slices."""
_V66_CALL = 6
"""Packets of entry and exit of a V66 kernel, which computes all slices of its job (inferred)."""
_MAIN_PACKETS = {60: 1_150, 66: 1_500}
"""Packets of the main thread by architecture: biases and strategy of a first layer, beyond
executing a node (inferred from the counted ones)."""
FIRST_Z_REGISTER = 66
"""First architecture that keeps activations in the Z register."""


@dataclass(frozen=True)
class DenseShape:
    """A dense convolution; the rows of the output include the batch.

    left: columns of padding on the left that the first window reads.
    """

    in_height: int
    in_width: int
    in_channels: int
    rows: int
    width: int
    channels: int
    kernel: tuple[int, int]
    strides: tuple[int, int]
    wide: bool = False
    left: int = 0

    @property
    def depth_rows(self) -> int:
        """Filter height times slices of input channels."""
        return self.kernel[0] * depth_slices(self.in_channels)

    @property
    def is_input(self) -> bool:
        """Whether the first-layer kernel computes it, because its channels are padded to 4."""
        return self.in_channels <= MOST_FIRST_LAYER_CHANNELS

    @property
    def slice_bytes(self) -> int:
        """Bytes of the stored weights of 32 output channels, with padding."""
        depth = 4 if self.is_input else depth_slices(self.in_channels) * DEPTH_SLICE
        return DEPTH_SLICE * (self.kernel[0] * self.kernel[1] * depth + _BIAS_BYTES)

    @cached_property
    def line_bytes(self) -> int:
        """Bytes of one row of input in d32; 16-bit codes have one plane for each byte."""
        vectors = row_vectors(self.in_width) * depth_slices(self.in_channels)
        return vectors * VECTOR_BYTES * (2 if self.wide else 1)

    @classmethod
    def of(cls, call: KernelCall, layer: Convolution) -> DenseShape:
        """Return the shape of one group of `layer`."""
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
            wide=is_16bit(call),
            left=layer.window.pads[1],
        )


Form = Literal["first layer", "v60", "v65", "v66"]


@dataclass(frozen=True)
class Blocking:
    """The blocking of one dense convolution.

    group: slices (32 output channels) of one weight group. rows_per_call: output rows of one slice
    that one kernel call computes.
    """

    shape: DenseShape
    target: Target

    @cached_property
    def form(self) -> Form:
        """The kernel family; that of V60 if the newest does not take these weights."""
        shape, target = self.shape, self.target
        if shape.is_input:
            return "first layer"
        signed = target.signed_kernels
        if signed is None or not signed.take(shape.kernel, shape.in_channels, shape.strides[1]):
            return "v60"
        return "v66" if target.version == FIRST_Z_REGISTER else "v65"

    @property
    def in_vtcm(self) -> bool:
        """Whether a group of weights is in VTCM while it is used."""
        return self.form in ("v65", "v66")

    @cached_property
    def group(self) -> int:
        """Slices of one weight group."""
        shape = self.shape
        if self.form == "first layer":
            return depth_slices(shape.channels)
        if self.form == "v60":
            return max(1, _V60_GROUP_BYTES // shape.slice_bytes)
        total = depth_slices(shape.channels)
        fit = max(1, self.target.vtcm_bytes // slice_bytes(shape.kernel, shape.in_channels))
        if self.form == "v66":
            return min(fit, total)
        even = max(1, fit - fit % 2)
        return even if fit < total and ceil_div(total, even) == ceil_div(total, fit) else fit

    @property
    def groups(self) -> list[int]:
        """Slices of every group, the last one smaller.

        They share a buffer, or on V66 are computed by the same jobs.
        """
        total = depth_slices(self.shape.channels)
        if self.form == "v66":
            return [total] if self.at_once else [1] * total
        return [min(self.group, total - begin) for begin in range(0, total, self.group)]

    @cached_property
    def rows_per_call(self) -> int:
        """Output rows of one kernel call; V65 calls for every row, the first layer once a job."""
        if self.form == "first layer":
            return self.shape.rows
        if self.form == "v65":
            return 1
        shape, step = self.shape, self.shape.strides[0]
        if self.form == "v60":
            return max(1, _V60_CALL_LINES // (shape.line_bytes * step))
        lines = ceil_div(_V66_CALL_LINES, shape.line_bytes * step)
        quarter = ((step * shape.rows + 1) // 4 - shape.kernel[0] + step + 1) // (4 * step)
        return max(1, min(lines, quarter))

    @cached_property
    def at_once(self) -> bool:
        """Whether one job computes all slices: on V66 if all weights fit VTCM and the threads are
        loaded evenly; otherwise each slice is a job."""
        threads = self.target.workers
        each = ceil_div(self.shape.rows, threads)
        last = self.shape.rows - (ceil_div(self.shape.rows, each) - 1) * each
        slices = depth_slices(self.shape.channels)
        return self.group >= slices and (last / each >= _EVEN or slices <= 2)

    @cached_property
    def around(self) -> Around:
        """The packets around the loops of slices; V65 has another family for a single one."""
        shape = self.shape
        if self.form == "v60":
            return packets.V60
        if self.form == "first layer":
            return packets.FIRST
        if self.form == "v65":
            return packets.PAIR
        if shape.strides[1] > 1:
            return packets.V66_STEPS
        return packets.V66_FOUR if self._between else packets.V66

    @property
    def _between(self) -> bool:
        """Whether the V66 kernel begins between the pixels of a vector, because all are used."""
        shape = self.shape
        return bool(shape.left and shape.kernel[1] > 1 and shape.width % PIXELS == 0)

    @cached_property
    def row_tiles(self) -> int:
        """Tiles of one output row of a slice.

        On V66 a row begins with the pixels of the vector in which its first window begins; the last
        vector is left out if only these pixels make it necessary.
        """
        shape = self.shape
        whole = row_vectors(shape.width)
        if self.form != "v66" or not shape.left or shape.strides[1] > 1 or self._between:
            return whole
        begun = row_vectors(shape.width + PIXELS - shape.left % PIXELS)
        left_out = 0 < shape.width % PIXELS <= shape.left % PIXELS and shape.width > PIXELS
        return max(whole, begun - left_out)

    def input_rows(self, rows: int) -> int:
        """Return the input rows that a job of `rows` output rows reads, those shared by its calls
        each time."""
        height, step = self.shape.kernel[0], self.shape.strides[0]
        rows_per_call = packets.FIRST_ROWS if self.form == "first layer" else self.rows_per_call
        calls = 1 if self.form == "v65" else ceil_div(rows, rows_per_call)
        return rows * min(step, height) + calls * max(0, height - step)

    def job_packets(self, slices: int, rows: int, *, first: bool) -> int:
        """Return the packets around the loops of one job of `rows` rows of `slices` slices.

        first: it is a job of the first group of weights, whose jobs make the sums.
        """
        shape, around = self.shape, self.around
        if self.form == "first layer":
            calls = ceil_div(rows, packets.FIRST_ROWS)
            rows_in = self.input_rows(rows)
            sums = packets.first_layer_sums(rows_in, rows, shape.in_width, calls)
            return sums + around.row * rows * slices + around.call * calls
        calls = self.calls(slices, rows)
        if self.form == "v65":
            kinds = (slices > 1) + slices % 2
            buffered = depth_slices(shape.in_channels) * self.input_rows(rows)
            pairs = around.row * (slices // 2) * rows
            return pairs + around.call * kinds * rows + around.job + packets.BUFFERED_ROW * buffered
        packets_of_rows = around.row * rows * slices + around.call * calls
        if self.form == "v60":
            total = packets_of_rows + around.job
            if first:
                total += packets.sums(
                    self.input_rows(rows), rows, shape.in_width, depth_slices(shape.in_channels)
                )
            return total
        jobs = 1 if self.at_once else slices
        row_calls = ceil_div(rows, self.rows_per_call)
        return packets_of_rows + jobs * (_V66_CALL * row_calls + around.job)

    def memory(self, groups: int) -> KernelMemory:
        """Return what the weights occupy, packed those of so many groups of channels.

        They pass through L2 group by group. Before V65 the group in use stays there, beside the
        next slice that is being fetched. If weights are copied to VTCM, L2 keeps as many; on the
        V66 with 1 MB that leaves 768 KB, which Hexagon NN reserves for activations. The V66 build
        rounds the packed slices up to a power of two, so that no group crosses a page.
        """
        shape, slices = self.shape, depth_slices(self.shape.channels)
        used = min(self.group if self.in_vtcm else self.group + 1, slices)
        biases = slices * DEPTH_SLICE * _BIAS_BYTES
        weights = slices * shape.slice_bytes - biases
        if self.target.version >= FIRST_Z_REGISTER and not shape.is_input:
            weights = 1 << (weights - 1).bit_length()
        return KernelMemory(
            used * shape.slice_bytes,
            groups * (biases + weights),
            used * slice_bytes(shape.kernel, shape.in_channels) if self.in_vtcm else 0,
        )

    def calls(self, slices: int, rows: int) -> int:
        """Return the kernel calls of one job; on V65 one call computes all slices of a group."""
        per_row = 1 if self.form == "v65" else slices
        return per_row * ceil_div(rows, self.rows_per_call)

    def row_loops(self, slices: int) -> list[tuple[Kernel, int]]:
        """Return the streams of one output row of `slices` slices, with their tiles."""
        shape, machine = self.shape, self.target.machine
        fw, depth_rows = shape.kernel[1], shape.depth_rows
        tiles = self.row_tiles
        if self.form == "first layer":
            stride = shape.strides[0]
            return [(convolution.convolution(machine, *shape.kernel, stride), slices * tiles)]
        if self.form == "v60":
            return [(forms.v60(machine, fw, depth_rows), slices * tiles)]
        if self.form == "v66":
            form = sixteen_bit.convolution if shape.wide else forms.v66
            return [(form(machine, fw, depth_rows), slices * tiles)]
        loops = []
        if slices > 1:
            pixels = 6 if shape.width in _SIX_WIDE else 8
            pair = forms.v65(machine, fw, depth_rows, pixels=pixels)
            loops.append((pair, slices // 2 * ceil_div(shape.width, pixels)))
        if slices % 2:
            single = forms.v65(machine, fw, depth_rows, slices=1)
            loops.append((single, ceil_div(shape.width, single.pixels)))
        return loops

    def tile_packets(self, kernel: Kernel) -> int:
        """Return the packets of a tile that the hand-written kernel takes beyond the stream."""
        shape = self.shape
        if self.form == "first layer":
            height, width = shape.kernel
            return packets.first_layer_tile(width, height, shape.strides[0])
        single = self.form == "v65" and kernel.slices == 1
        return (packets.SINGLE if single else self.around).of_tile(shape.depth_rows)

    def restarts(self, slices: int) -> int:
        """Return the loops per output row that end in a mispredicted jump."""
        return sum(
            tiles // max(1, self.row_tiles * PIXELS // kernel.pixels)
            for kernel, tiles in self.row_loops(slices)
            if kernel.cost.jumps
        )

    @property
    def macs(self) -> int:
        """Multiply-adds of the hardware, with padding."""
        return self.shape.rows * sum(
            kernel.cost.macs * tiles
            for slices in self.groups
            for kernel, tiles in self.row_loops(slices)
        )

    def group_loops(self, slices: int, *, first: bool) -> list[tuple[Kernel, int]]:
        """Return the streams that a group of weights needs once, with their tiles."""
        shape, machine = self.shape, self.target.machine
        if self.form == "first layer":
            copied = shape.in_height * ceil_div(shape.in_width * 4, VECTOR_BYTES)
            return [(listed("to_depth_4", machine), copied)]
        if self.form == "v60":
            return []
        weights = slices * shape.slice_bytes // VECTOR_BYTES
        loops = [(movement.weights_to_vtcm(machine), weights)]
        vectors = row_vectors(shape.in_width) * depth_slices(shape.in_channels)
        rows = sum(map(self.input_rows, parts(shape.rows, self.target.workers)))
        if self.form == "v65":
            loops.append((listed("pixel_pairs", machine), rows * vectors))
        elif shape.wide and first:
            loops.append((listed("split", machine), shape.in_height * vectors))
        return loops


def streams(call: KernelCall[Convolution], target: Target) -> tuple[Kernel, ...]:
    """Return the loops of a convolution that is neither grouped nor depthwise."""
    return dense_streams(DenseShape.of(call, call.layer), target)


def blocking(call: KernelCall[Convolution], target: Target) -> Blocking:
    """Return the blocking of one group of channels."""
    return Blocking(DenseShape.of(call, call.layer), target)


def dense_streams(shape: DenseShape, target: Target) -> tuple[Kernel, ...]:
    """Return the loops over weight groups, each once, then the loops around them."""
    blocking = Blocking(shape, target)
    sizes = sorted(set(blocking.groups), reverse=True)
    loops = [loop for size in sizes for loop, _ in blocking.row_loops(size)]
    loops += [loop for loop, _ in blocking.group_loops(sizes[0], first=True)]
    return tuple({kernel.name: kernel for kernel in loops}.values())


def work(call: KernelCall[Convolution], target: Target, traffic: Traffic) -> NodeWork:
    """Return the work of a convolution that is neither grouped nor depthwise."""
    shape = DenseShape.of(call, call.layer)
    main = target.convolution_packets
    if shape.is_input:
        main += _MAIN_PACKETS[66] if target.version >= FIRST_Z_REGISTER else _MAIN_PACKETS[60]
    stage = dense_stage(shape, target, traffic)
    return NodeWork((stage,), cost_model(shape, target), main_packets=main)


def cost_model(shape: DenseShape, target: Target) -> CostModel:
    """Return "kernel", or "generic" for 16-bit activations without streams (all but V66)."""
    return "generic" if shape.wide and Blocking(shape, target).form != "v66" else "kernel"


def dense_stage(shape: DenseShape, target: Target, traffic: Traffic) -> Stage:
    """Return the work of one dense convolution, doubled for 16 bits without streams."""
    if cost_model(shape, target) == "generic":
        return twice_stage(dense_stage(replace(shape, wide=False), target, traffic))
    blocking = Blocking(shape, target)
    groups = blocking.groups
    limit = max(1, _MOST_SLICES // len(groups))
    cut = blocks(shape.rows, traffic, target.l2_bytes)
    if len(cut) > limit:
        cut = list(parts(shape.rows, limit))
    first_reads = cut_evenly(traffic.read_bytes, cut)
    later_reads = cut_evenly(traffic.reread_bytes, cut)
    group_writes = cut_evenly(traffic.write_bytes, groups)
    pieces = []
    for number, (slices, group_write) in enumerate(zip(groups, group_writes, strict=True)):
        loops = blocking.row_loops(slices)
        beyond = sum(blocking.tile_packets(kernel) * tiles for kernel, tiles in loops)
        row = loops_work(loops) + WorkItem(
            beyond, stalls=blocking.restarts(slices) * target.restart_slots
        )
        first = number == 0
        once = loops_work(blocking.group_loops(slices, first=first))
        entry = loops[0][0].cost.call
        writes = cut_evenly(group_write, cut)
        of_rows = {
            rows: row.times(rows)
            + WorkItem(
                entry * blocking.calls(slices, rows)
                + blocking.job_packets(slices, rows, first=first)
            )
            for rows in {rows for block in cut for rows in parts(block, target.workers)}
        }
        reads = later_reads if number else first_reads
        for place, (block, read, write) in enumerate(zip(cut, reads, writes, strict=True)):
            weights = 0 if place else slices * shape.slice_bytes
            jobs = list(parts(block, target.workers))
            extra = NO_WORK if place else once
            items = tuple(
                replace(_with(of_rows[rows], extra, len(jobs)), read_bytes=share)
                for rows, share in zip(jobs, cut_evenly(read, jobs), strict=True)
            )
            pieces.append(Slice(items, weights, write))
    if blocking.form != "v66":
        return Stage(tuple(pieces), target.workers)
    ring = (blocking.group - 1) * len(cut) + 1
    return Stage(tuple(pieces), target.workers, buffers=ring, copied=True)


def _with(item: WorkItem, once: WorkItem, jobs: int) -> WorkItem:
    """Add to one of `jobs` jobs its part of the work that a group needs once."""
    return item + WorkItem(
        ceil_div(once.packets, jobs),
        ceil_div(once.stalls, jobs),
        ceil_div(once.scalar_fed, jobs),
        ceil_div(once.l2_bytes, jobs),
        ceil_div(once.vtcm_bytes, jobs),
    )


MODEL = KernelModel(
    streams,
    work,
    lambda call, target: blocking(call, target).memory(call.layer.groups),
    takes_16_bits=True,
)
