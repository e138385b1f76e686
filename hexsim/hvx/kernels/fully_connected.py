"""Fully connected: groups of weight slices are jobs that the workers take in order.

The main thread issues the prefetch of every group while it queues the jobs, without waiting,
so fetches run ahead of the work; with a batch of one the layer runs at the speed of DDR.
A spatial input is first converted from d32. Some releases fetch the weights again for every row
of a batch (`kernels.matrix_rows`).

Source: Hexagon NN, hexagon/ops/src/op_superfc_d32.c (lines 718-722, 1335-1400); packets around the
loops: tests/hexagon_nn/packets.
"""

from __future__ import annotations

import dataclasses
import math

from hexsim.graph.ir import Shape
from hexsim.graph.nhwc import as_nhwc
from hexsim.hvx.kernels import _loops
from hexsim.hvx.kernels._blocking import RowCost, row_stage
from hexsim.hvx.kernels._model import KernelModel, Models
from hexsim.hvx.kernels._sixteen_bit import is_16bit, twice_stage
from hexsim.hvx.kernels._target import Target
from hexsim.hvx.layout import SHEET, ceil_div, sheets, vectors
from hexsim.hvx.streams import Kernel, layout_change, two_bytes
from hexsim.layers import FullyConnected
from hexsim.planning.plan import KernelCall
from hexsim.timing.memory import Traffic
from hexsim.timing.work import NodeWork, Slice, Stage

_GROUP_BYTES = 384 * 1024
_BIAS_BYTES = 4
_FLATTEN_THREADS = 2
_SLICE_PACKETS = 26
"""Around the loop of 32 outputs: 17 of the kernel, which finishes them before it begins the next
ones, and 9 of its caller in C."""
_GROUP_PACKETS = 195
"""A job: zeroed results, the minimum and maximum, and the prefetch of weights."""
_MAIN_PACKETS = {60: 35, 65: 35, 66: 40}
"""Main thread: a job that is queued, by architecture."""


def streams(call: KernelCall, target: Target) -> tuple[Kernel, ...]:
    """Return the matrix loops and, for a spatial input, the conversion from d32."""
    source = call.operands[0]
    loops = _rows(call, target)
    kernels = tuple(kernel for kernel, _ in loops)
    return (*kernels, layout_change.from_d32(target.machine)) if _is_spatial(source) else kernels


def _rows(call: KernelCall, target: Target) -> tuple[tuple[Kernel, int], ...]:
    """Return the streams for 32 outputs of the batch, with how often each runs."""
    batch = call.operands[0][0]
    inputs = math.prod(call.operands[0]) // batch
    if is_16bit(call):
        return ((two_bytes.fully_connected(target.machine, inputs), batch),)
    return _loops.matrix_rows(target.machine, inputs, batch)


def _is_spatial(shape: Shape) -> bool:
    return math.prod(shape[1:-1]) > 1


def work(call: KernelCall, target: Target, traffic: Traffic) -> NodeWork:
    """Return one job per weight group."""
    assert isinstance(call.layer, FullyConnected)
    source = call.operands[0]
    batch = source[0]
    inputs = math.prod(source) // batch
    slice_bytes = _slice_bytes(inputs)
    group = ceil_div(_GROUP_BYTES, slice_bytes)
    count = sheets(call.layer.output_channels)
    sizes = [min(group, count - begin) for begin in range(0, count, group)]
    slice_cost = RowCost(_SLICE_PACKETS * ceil_div(batch, 2))
    for kernel, times in _rows(call, target):
        slice_cost += RowCost.of(kernel.cost, times)
    times_read = batch if target.each_row else 1
    pieces = [
        Slice((slice_cost.item(size, _GROUP_PACKETS),), times_read * size * slice_bytes)
        for size in sizes
    ]
    main = len(pieces) * (_MAIN_PACKETS[66] if target.version >= 66 else _MAIN_PACKETS[60])
    pieces[-1] = dataclasses.replace(pieces[-1], write_bytes=traffic.write_bytes)
    if not _is_spatial(source):
        first = pieces[0].read_bytes + traffic.read_bytes
        pieces[0] = dataclasses.replace(pieces[0], read_bytes=first)
        return NodeWork((_stage(pieces, target),), "kernel", main_packets=main)
    height = as_nhwc(source)[1]
    out_of_d32 = layout_change.from_d32(target.machine).cost
    flatten = RowCost.of(out_of_d32, ceil_div(vectors(source), 4 * batch * height))
    read = traffic.part(is_first=True, is_last=False)
    flat = row_stage(batch * height, flatten, _FLATTEN_THREADS, read, target.l2_bytes)
    flat = twice_stage(flat) if is_16bit(call) else flat
    return NodeWork((flat, _stage(pieces, target)), "kernel", nodes=2, main_packets=main)


def _slice_bytes(inputs: int) -> int:
    """Return the bytes of the packed weights of 32 outputs."""
    return SHEET * (ceil_div(inputs, SHEET) * SHEET + _BIAS_BYTES)


def packed_bytes(call: KernelCall, target: Target) -> int:
    """Return the bytes of all slices."""
    assert isinstance(call.layer, FullyConnected)
    inputs = math.prod(call.operands[0]) // call.operands[0][0]
    return sheets(call.layer.output_channels) * _slice_bytes(inputs)


def _stage(pieces: list[Slice], target: Target) -> Stage:
    return Stage(tuple(pieces), target.workers, buffers=len(pieces))


def _all_of_l2(call: KernelCall, target: Target) -> int:
    """Return all of L2, because the layer fetches as far ahead as L2 allows."""
    return target.l2_bytes


MODELS: Models = {
    FullyConnected: KernelModel(streams, work, _all_of_l2, packed_bytes, takes_16_bits=True)
}
