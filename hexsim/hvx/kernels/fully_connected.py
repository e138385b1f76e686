"""Fully connected: groups of weight slices are jobs that the workers take in order.

The main thread issues the prefetch of every group while it queues the jobs, without waiting,
so fetches run ahead of the work; with a batch of one the layer runs at the speed of DDR.
A spatial input is first converted from d32. The rows of a batch are shared by the workers, so that
each group of weights is a job for each of them. Some releases compute the rows one after another
instead (`kernels.matrix_rows`): each row is a stage over all weights, which come from DDR again
unless they fit in L2.

Source: Hexagon NN, hexagon/ops/src/op_superfc_d32.c (lines 718-722, 1335-1400); packets around the
loops: tests/hexagon_nn/packets.
"""

import dataclasses
import math

from hexsim.graph.ir import Shape
from hexsim.graph.nhwc import as_nhwc
from hexsim.hvx.kernels import _loops
from hexsim.hvx.kernels._blocking import loop_work, loops_work, parts, row_stage
from hexsim.hvx.kernels._model import KernelModel, Models, Target, is_16bit, twice_stage
from hexsim.hvx.layout import DEPTH_SLICE, ceil_div, depth_slices, vectors
from hexsim.hvx.streams import Kernel, layout_change, sixteen_bit
from hexsim.layers import FullyConnected
from hexsim.planning.plan import KernelCall
from hexsim.timing.memory import Traffic
from hexsim.timing.work import NodeWork, Slice, Stage, WorkItem

_GROUP_BYTES = 384 * 1024
"""Weights of a group (op_superfc_d32.c; documented)."""
_BIAS_BYTES = 4
_FLATTEN_THREADS = 2
"""Threads of the conversion from d32 (assumed, as for layout changes)."""
_SLICE_PACKETS = 26
"""Packets around the loop of 32 outputs: 17 of the kernel, which finishes them before it begins the
next ones, and 9 of its caller in C. All packets here are inferred from counted ones."""
_GROUP_PACKETS = 195
"""Packets of a job: zeroed results, the minimum and maximum, and the prefetch of weights."""
_MAIN_PACKETS = {60: 35, 65: 35, 66: 40}
"""Packets of the main thread for a job that is queued, by architecture."""


def streams(call: KernelCall, target: Target) -> tuple[Kernel, ...]:
    """Return the matrix loops and, for a spatial input, the conversion from d32."""
    source = call.operands[0]
    loops = _rows(call, target, 1 if target.each_row else source[0])
    kernels = tuple(kernel for kernel, _ in loops)
    return (*kernels, layout_change.from_d32(target.machine)) if _is_spatial(source) else kernels


def _rows(call: KernelCall, target: Target, rows: int) -> tuple[tuple[Kernel, int], ...]:
    """Return the streams for 32 outputs of some rows, with how often each runs."""
    if is_16bit(call):
        return ((sixteen_bit.fully_connected(target.machine, _inputs(call)), rows),)
    return _loops.matrix_rows(target.machine, _inputs(call), rows)


def _is_spatial(shape: Shape) -> bool:
    return math.prod(shape[1:-1]) > 1


def work(call: KernelCall[FullyConnected], target: Target, traffic: Traffic) -> NodeWork:
    """Return one job per weight group."""
    source = call.operands[0]
    batch, products = source[0], _products(call, target)
    main = sum(stage.jobs for stage in products) * _MAIN_PACKETS[66 if target.version >= 66 else 60]
    last = products[-1]
    written = dataclasses.replace(last.slices[-1], write_bytes=traffic.write_bytes)
    products[-1] = dataclasses.replace(last, slices=(*last.slices[:-1], written))
    if not _is_spatial(source):
        first = products[0].slices[0]
        fetched = dataclasses.replace(first, read_bytes=first.read_bytes + traffic.read_bytes)
        products[0] = dataclasses.replace(products[0], slices=(fetched, *products[0].slices[1:]))
        return NodeWork(tuple(products), "kernel", main_packets=main)
    height = as_nhwc(source)[1]
    out_of_d32 = layout_change.from_d32(target.machine).cost
    flatten = loop_work(out_of_d32, ceil_div(vectors(source), 4 * batch * height))
    read = traffic.part(is_first=True, is_last=False)
    flat = row_stage(batch * height, flatten, _FLATTEN_THREADS, read, target.l2_bytes)
    flat = twice_stage(flat) if is_16bit(call) else flat
    return NodeWork((flat, *products), "kernel", nodes=2, main_packets=main)


def _products(call: KernelCall[FullyConnected], target: Target) -> list[Stage]:
    """Return the stages of the products: one for all rows, or one for each."""
    batch = call.operands[0][0]
    if not target.each_row or batch == 1:
        return [_stage(call, target, list(parts(batch, target.workers)), fetches=True)]
    fit = packed_bytes(call, target) <= target.l2_bytes
    first = _stage(call, target, [1], fetches=True)
    other = _stage(call, target, [1], fetches=False) if fit else first
    return [first, *[other] * (batch - 1)]


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
    """Return the cost of 32 outputs of some rows."""
    around = WorkItem(_SLICE_PACKETS * ceil_div(rows, 2))
    return around + loops_work(_rows(call, target, rows))


def _inputs(call: KernelCall) -> int:
    """Return the inputs of a row."""
    return math.prod(call.operands[0]) // call.operands[0][0]


def _slice_bytes(inputs: int) -> int:
    """Return the bytes of the packed weights of 32 outputs."""
    return DEPTH_SLICE * (ceil_div(inputs, DEPTH_SLICE) * DEPTH_SLICE + _BIAS_BYTES)


def packed_bytes(call: KernelCall[FullyConnected], target: Target) -> int:
    """Return the bytes of all slices."""
    return depth_slices(call.layer.output_channels) * _slice_bytes(_inputs(call))


def _all_of_l2(call: KernelCall[FullyConnected], target: Target) -> int:
    """Return all of L2, because the layer fetches as far ahead as L2 allows."""
    return target.l2_bytes


MODELS: Models = {
    FullyConnected: KernelModel(streams, work, _all_of_l2, packed_bytes, takes_16_bits=True)
}
