"""Fully connected layers and MatMul, by the loops of matrix products.

Fully connected: groups of weight slices are jobs that the workers take in order. The main thread
issues the prefetch of every group while it queues the jobs, so fetches run ahead of the work; with
a batch of one the layer runs at the speed of DDR. The rows of a batch are shared by the workers.
Some releases compute them one after another (`kernels.matrix_rows`): each row is a stage of its
own, but the weights come from DDR once. Source: Hexagon NN, hexagon/ops/src/op_superfc_d32.c (lines
718-722, 1335-1400); packets around the loops: tests/hexagon_nn/packets.

MatMul: the right operand is packed like weights for the same loop, a computed one in every
inference. Jobs are slices of 32 outputs of one product, and parts of its rows if there are too few
slices for all workers. Operands of 16 bits are split in planes of bytes that are packed and summed
separately. Left out: a constant operand could be packed beforehand. No hand-written kernel is
known: the blocking is that of the fully connected layer, the packing that of layout changes.

Operands with spatial axes are converted from d32, and results with them to d32.
"""

from __future__ import annotations

import dataclasses
import math

from hexsim.graph.batches import as_nhwc
from hexsim.graph.ir import Shape
from hexsim.hvx.kernels._blocking import loop_work, loops_work, parts, per_vector_stage, row_stage
from hexsim.hvx.kernels._model import (
    KernelMemory,
    KernelModel,
    Models,
    Target,
    is_16bit,
    twice_stage,
)
from hexsim.hvx.layout import DEPTH_SLICE, VECTOR_BYTES, ceil_div, depth_slices, is_spatial, vectors
from hexsim.hvx.streams import HvxMachine, Kernel, listed, matrices, sixteen_bit
from hexsim.layers import FullyConnected, MatMul
from hexsim.planning.plan import KernelCall
from hexsim.records import dataclass
from hexsim.timing.memory import Traffic
from hexsim.timing.work import NodeWork, Slice, Stage, WorkItem

_GROUP_BYTES = 384 * 1024
"""Weights of a group (op_superfc_d32.c; documented)."""
_BIAS_BYTES = 4
_SLICE_PACKETS = 26
"""Packets around the loop of 32 outputs: 17 of the kernel, which finishes them before it begins the
next ones, and 9 of its caller in C. (inferred from counted ones)."""
_GROUP_PACKETS = 195
"""Packets of a job: zeroed results, the minimum and maximum, and the prefetch of weights
(inferred)."""
_MAIN_PACKETS = {60: 35, 65: 35, 66: 40}
"""Packets of the main thread for a job that is queued, by architecture (inferred)."""


def fully_connected_streams(call: KernelCall, target: Target) -> tuple[Kernel, ...]:
    """Return the matrix loops and, for a spatial input, the conversion from d32."""
    source = call.operands[0]
    loops = _slice_rows(call, target, 1 if target.each_row else source[0])
    kernels = tuple(kernel for kernel, _ in loops)
    if is_spatial(source):
        kernels = (*kernels, listed("from_d32", target.machine))
    return (*kernels, listed("to_d32", target.machine)) if is_spatial(call.results[0]) else kernels


def matrix_rows(machine: HvxMachine, inputs: int, batch: int) -> tuple[tuple[Kernel, int], ...]:
    """Return the streams for 32 outputs of a whole batch and how often each runs: rows in pairs,
    then an odd one."""
    pairs = ((matrices.outputs(machine, inputs, 2), batch // 2),) if batch > 1 else ()
    single = ((matrices.outputs(machine, inputs, 1), 1),) if batch % 2 else ()
    return pairs + single


def _slice_rows(call: KernelCall, target: Target, rows: int) -> tuple[tuple[Kernel, int], ...]:
    """Return the streams for 32 outputs of some rows, with how often each runs."""
    if is_16bit(call):
        return ((sixteen_bit.fully_connected(target.machine, _inputs(call)), rows),)
    return matrix_rows(target.machine, _inputs(call), rows)


def fully_connected_work(
    call: KernelCall[FullyConnected], target: Target, traffic: Traffic
) -> NodeWork:
    """Return one job per weight group."""
    source, result = call.operands[0], call.results[0]
    stages, nodes = _products(call, target), 1
    main = sum(stage.jobs for stage in stages) * _MAIN_PACKETS[66 if target.version >= 66 else 60]
    planes = twice_stage if is_16bit(call) else lambda stage: stage
    if is_spatial(result):
        to_d32 = listed("to_d32", target.machine).cost
        moved = per_vector_stage(result, to_d32, _THREADS, Traffic(), target)
        stages, nodes = [*stages, planes(moved)], 2
    if not is_spatial(source):
        return NodeWork(_with_traffic(stages, traffic), "kernel", nodes=nodes, main_packets=main)
    rows = math.prod(as_nhwc(source)[:2])
    flatten = loop_work(
        listed("from_d32", target.machine).cost, ceil_div(vectors(source), 4 * rows)
    )
    read = traffic.part(is_first=True, is_last=False)
    flat = planes(row_stage(rows, flatten, _THREADS, read, target))
    written = _with_traffic(stages, traffic.part(is_first=False, is_last=True))
    return NodeWork((flat, *written), "kernel", nodes=nodes + 1, main_packets=main)


def _products(call: KernelCall[FullyConnected], target: Target) -> list[Stage]:
    """Return the stages of the products: one for all rows, or one for each.

    The weights are fetched once: each group of them serves all rows before the next one comes.
    """
    batch = call.operands[0][0]
    if not target.each_row or batch == 1:
        return [_stage(call, target, list(parts(batch, target.workers)), fetches=True)]
    first = _stage(call, target, [1], fetches=True)
    return [first, *[_stage(call, target, [1], fetches=False)] * (batch - 1)]


def _stage(
    call: KernelCall[FullyConnected], target: Target, rows: list[int], *, fetches: bool
) -> Stage:
    """Return one slice per group of weights, with a job for each part of the rows."""
    slice_bytes = _slice_bytes(_inputs(call))
    group = ceil_div(_GROUP_BYTES, slice_bytes)
    count = depth_slices(call.layer.output_channels)
    costs = [_slice_cost(call, target, part) for part in rows]
    slices = []
    for begin in range(0, count, group):
        size = min(group, count - begin)
        jobs = tuple(cost.times(size) + WorkItem(_GROUP_PACKETS) for cost in costs)
        slices.append(Slice(jobs, size * slice_bytes if fetches else 0))
    return Stage(tuple(slices), target.workers, buffers=len(slices))


def _slice_cost(call: KernelCall[FullyConnected], target: Target, rows: int) -> WorkItem:
    around = WorkItem(_SLICE_PACKETS * ceil_div(rows, 2))
    return around + loops_work(_slice_rows(call, target, rows))


def _inputs(call: KernelCall) -> int:
    """Return the inputs of a row."""
    return math.prod(call.operands[0]) // call.operands[0][0]


def _slice_bytes(inputs: int) -> int:
    """Return the bytes of the packed weights of 32 outputs."""
    return DEPTH_SLICE * (ceil_div(inputs, DEPTH_SLICE) * DEPTH_SLICE + _BIAS_BYTES)


def memory(call: KernelCall[FullyConnected], target: Target) -> KernelMemory:
    """Return all of L2, as far ahead as which the layer fetches, and the bytes of all slices."""
    packed = depth_slices(call.layer.output_channels) * _slice_bytes(_inputs(call))
    return KernelMemory(target.l2_bytes, packed)


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


def mat_mul_streams(call: KernelCall[MatMul], target: Target) -> tuple[Kernel, ...]:
    """Return the packing, the products, and changes of layout around them."""
    sizes, wide = Sizes.of(call), is_16bit(call)
    kernels = [listed("split", target.machine)] if wide else []
    kernels += [_packing(sizes, target)[0], listed("row_sums", target.machine)]
    kernels += [kernel for kernel, _ in _rows(sizes, target, wide=wide)]
    if any(map(is_spatial, call.operands)):
        kernels.append(listed("from_d32", target.machine))
    if is_spatial(call.results[0]):
        kernels.append(listed("to_d32", target.machine))
    return tuple(kernels)


def _rows(sizes: Sizes, target: Target, *, wide: bool) -> tuple[tuple[Kernel, int], ...]:
    """Return the streams for 32 columns of one job, with how often each runs."""
    part = ceil_div(sizes.rows, sizes.parts(target.workers))
    if wide:
        return ((sixteen_bit.product(target.machine, sizes.depth), part),)
    return matrix_rows(target.machine, sizes.depth, part)


def _packing(sizes: Sizes, target: Target) -> tuple[Kernel, int]:
    """Return the loop that packs one matrix, and how often it runs."""
    if sizes.transposed:
        vectors = depth_slices(sizes.columns) * ceil_div(sizes.depth, matrices.ROWS)
        return matrices.turned(target.machine), ceil_div(vectors, matrices.ROWS)
    across = ceil_div(sizes.columns, VECTOR_BYTES)
    return listed("interleave", target.machine), ceil_div(sizes.depth, matrices.ROWS) * across


def mat_mul_work(call: KernelCall[MatMul], target: Target, traffic: Traffic) -> NodeWork:
    """Return stages that flatten operands, pack the right one, multiply, and convert the result."""
    sizes, threads, wide = Sizes.of(call), min(_THREADS, target.workers), is_16bit(call)

    def moved(shape: Shape, kernel: Kernel) -> Stage:
        stage = per_vector_stage(shape, kernel.cost, threads, Traffic(), target)
        return twice_stage(stage) if wide else stage

    out_of_d32 = listed("from_d32", target.machine)
    stages = [moved(shape, out_of_d32) for shape in call.operands if is_spatial(shape)]
    if wide:
        stages += [_split(shape, threads, target) for shape in call.operands]
    packing, times = _packing(sizes, target)
    planes = 2 if wide else 1
    sums = sizes.rows * ceil_div(sizes.depth, VECTOR_BYTES)
    packed = loop_work(packing.cost, planes * times, planes)
    packed += loop_work(listed("row_sums", target.machine).cost, planes * sums, planes)
    stages.append(row_stage(sizes.packed, packed, threads, Traffic(), target))
    job_cost = loops_work(_rows(sizes, target, wide=wide))
    jobs = sizes.batch * depth_slices(sizes.columns) * sizes.parts(target.workers)
    stages.append(row_stage(jobs, job_cost, target.workers, Traffic(), target))
    if is_spatial(call.results[0]):
        stages.append(moved(call.results[0], listed("to_d32", target.machine)))
    return NodeWork(_with_traffic(stages, traffic), "kernel", nodes=len(stages))


def _split(shape: Shape, threads: int, target: Target) -> Stage:
    """Return the stage that splits a flat 16-bit operand in two planes."""
    tiles = ceil_div(math.prod(shape), VECTOR_BYTES)
    row = loop_work(listed("split", target.machine).cost, ceil_div(tiles, threads), 1)
    return row_stage(threads, row, threads, Traffic(), target)


def _with_traffic(stages: list[Stage], traffic: Traffic) -> tuple[Stage, ...]:
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


MODELS: Models = {
    FullyConnected: KernelModel(
        fully_connected_streams, fully_connected_work, memory, takes_16_bits=True
    ),
    MatMul: KernelModel(mat_mul_streams, mat_mul_work, takes_16_bits=True),
}
