"""MatMul: the right operand is packed like weights for the loop of a fully connected layer.

Weights are packed when a network is loaded; a computed operand has to be packed in every inference.
Jobs are slices of 32 outputs of one product, and parts of its rows if there are too few slices
for all workers. Operands with spatial axes are converted from d32, and results with them to d32.

Operands of 16 bits are split in planes of high and of low bytes, which are packed and summed
separately.

Left out: a constant operand could be packed beforehand. No hand-written kernel is known: the
blocking is that of Hexagon NN's fully connected layer, the packing that of its layout changes.
"""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass

from hexsim.graph.ir import Shape
from hexsim.hvx.kernels import _loops
from hexsim.hvx.kernels._blocking import loop_work, loops_work, per_vector_stage, row_stage
from hexsim.hvx.kernels._model import KernelModel, Models, Target, is_16bit, twice_stage
from hexsim.hvx.layout import VECTOR_BYTES, ceil_div, depth_slices, is_spatial
from hexsim.hvx.streams import Kernel, layout_change, matrices, sixteen_bit
from hexsim.layers import MatMul
from hexsim.planning.plan import KernelCall
from hexsim.timing.memory import Traffic
from hexsim.timing.work import NodeWork, Stage

_THREADS = 2
"""Threads of layout changes and of packing (assumed, as for other layers that move codes)."""


@dataclass(frozen=True)
class Sizes:
    """`batch` products of `rows` x `depth` by `depth` x `columns`, with `packed` right operands."""

    batch: int
    packed: int
    rows: int
    depth: int
    columns: int
    transposed: bool

    @classmethod
    def of(cls, call: KernelCall[MatMul]) -> Sizes:
        """Return the sizes of a call."""
        first, second = call.operands
        *outer, rows, columns = call.results[0]
        packed = math.prod(second[:-2])
        return cls(math.prod(outer), packed, rows, first[-1], columns, call.layer.transposed)

    def parts(self, workers: int) -> int:
        """Return the parts of the rows of a product, so that all workers have a job."""
        return min(ceil_div(workers, self.batch * depth_slices(self.columns)), self.rows)


def streams(call: KernelCall[MatMul], target: Target) -> tuple[Kernel, ...]:
    """Return the packing, the products, and changes of layout around them."""
    sizes, wide = Sizes.of(call), is_16bit(call)
    kernels = [sixteen_bit.split(target.machine)] if wide else []
    kernels += [_packing(sizes, target)[0], matrices.row_sums(target.machine)]
    kernels += [kernel for kernel, _ in _rows(sizes, target, wide=wide)]
    if any(map(is_spatial, call.operands)):
        kernels.append(layout_change.from_d32(target.machine))
    if is_spatial(call.results[0]):
        kernels.append(layout_change.to_d32(target.machine))
    return tuple(kernels)


def _rows(sizes: Sizes, target: Target, *, wide: bool) -> tuple[tuple[Kernel, int], ...]:
    """Return the streams for 32 columns of one job, with how often each runs."""
    part = ceil_div(sizes.rows, sizes.parts(target.workers))
    if wide:
        return ((sixteen_bit.product(target.machine, sizes.depth), part),)
    return _loops.matrix_rows(target.machine, sizes.depth, part)


def _packing(sizes: Sizes, target: Target) -> tuple[Kernel, int]:
    """Return the loop that packs one matrix, and how often it runs."""
    if sizes.transposed:
        vectors = depth_slices(sizes.columns) * ceil_div(sizes.depth, matrices.ROWS)
        return matrices.turned(target.machine), ceil_div(vectors, matrices.ROWS)
    across = ceil_div(sizes.columns, VECTOR_BYTES)
    return matrices.interleave(target.machine), ceil_div(sizes.depth, matrices.ROWS) * across


def work(call: KernelCall[MatMul], target: Target, traffic: Traffic) -> NodeWork:
    """Return stages that flatten operands, pack the right one, multiply, and convert the result."""
    sizes, threads, wide = Sizes.of(call), min(_THREADS, target.workers), is_16bit(call)

    def moved(shape: Shape, kernel: Kernel) -> Stage:
        stage = per_vector_stage(shape, kernel.cost, threads, Traffic(), target.l2_bytes)
        return twice_stage(stage) if wide else stage

    out_of_d32 = layout_change.from_d32(target.machine)
    stages = [moved(shape, out_of_d32) for shape in call.operands if is_spatial(shape)]
    if wide:
        stages += [_split(shape, threads, target) for shape in call.operands]
    packing, times = _packing(sizes, target)
    planes = 2 if wide else 1
    sums = sizes.rows * ceil_div(sizes.depth, VECTOR_BYTES)
    packed = loop_work(packing.cost, planes * times, planes)
    packed += loop_work(matrices.row_sums(target.machine).cost, planes * sums, planes)
    stages.append(row_stage(sizes.packed, packed, threads, Traffic(), target.l2_bytes))
    job_cost = loops_work(_rows(sizes, target, wide=wide))
    jobs = sizes.batch * depth_slices(sizes.columns) * sizes.parts(target.workers)
    stages.append(row_stage(jobs, job_cost, target.workers, Traffic(), target.l2_bytes))
    if is_spatial(call.results[0]):
        stages.append(moved(call.results[0], layout_change.to_d32(target.machine)))
    return NodeWork(_with_traffic(stages, traffic), "kernel", nodes=len(stages))


def _split(shape: Shape, threads: int, target: Target) -> Stage:
    """Return the stage that splits a flat 16-bit operand in two planes."""
    tiles = ceil_div(math.prod(shape), VECTOR_BYTES)
    row = loop_work(sixteen_bit.split(target.machine).cost, ceil_div(tiles, threads), 1)
    return row_stage(threads, row, threads, Traffic(), target.l2_bytes)


def _with_traffic(stages: list[Stage], traffic: Traffic) -> tuple[Stage, ...]:
    """Add the reads from DDR to the first stage, and the writes to the last one."""

    def grown(stage: Stage, at: int, read: int, write: int) -> Stage:
        slices = list(stage.slices)
        slices[at] = dataclasses.replace(
            slices[at],
            read_bytes=slices[at].read_bytes + read,
            write_bytes=slices[at].write_bytes + write,
        )
        return dataclasses.replace(stage, slices=tuple(slices))

    stages[0] = grown(stages[0], 0, traffic.read_bytes, 0)
    stages[-1] = grown(stages[-1], -1, 0, traffic.write_bytes)
    return tuple(stages)


MODELS: Models = {MatMul: KernelModel(streams, work, takes_16_bits=True)}
