"""Turns loop costs into work items: rows are shared by threads, blocks of rows by prefetches.

A kernel states the cost of one row of its output; this file cuts the rows in equal parts for the
worker threads and, if activations come from or go to DDR, in blocks that fit a prefetch.

Kernels with the same cost for every vector of a tensor.

What a loop waits for that does not load ahead: operands in L2, and operands in DDR.
"""

import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from hexsim.graph.batches import as_nhwc
from hexsim.graph.ir import Shape
from hexsim.hvx.kernels._model import KernelModel, Target
from hexsim.hvx.layout import (
    PIXELS,
    VECTOR_BYTES,
    ceil_div,
    depth_slices,
    padded_vectors,
    row_vectors,
    stored_bytes,
)
from hexsim.hvx.streams import Kernel, LoopCost
from hexsim.planning.plan import KernelCall
from hexsim.timing.memory import Traffic
from hexsim.timing.work import NodeWork, Slice, Stage, WorkItem

_MOST_BLOCKS = 8
"""The most blocks of rows of a layer; more would only change its first fetch (assumed)."""
_BLOCK_L2_SHARE = 8
"""A prefetch of activations takes at most 1/8 of L2 (Hexagon NN: 32 KB to 64 KB; inferred)."""
NO_WORK = WorkItem(0)


def loop_work(cost: LoopCost, tiles: int, loop_rows: int = 0) -> WorkItem:
    """Return the work of `tiles` tiles of a loop in `loop_rows` rows of tiles (rows of one slice).

    Stalls are the empty slots of its tiles. Empty slots between rows of tiles, and in entry and
    exit of calls, are few and counted as packets.
    """
    stalls = cost.stalls * tiles
    packets = cost.tile * tiles + cost.row * loop_rows - stalls
    return WorkItem(
        packets,
        stalls,
        packets if cost.scalar_fed else 0,
        cost.l2_vectors * tiles * VECTOR_BYTES,
        cost.vtcm_vectors * tiles * VECTOR_BYTES,
    )


def loops_work(loops: Iterable[tuple[Kernel, int]]) -> WorkItem:
    """Return the work of several loops, each with the number of its tiles."""
    return sum((loop_work(kernel.cost, tiles) for kernel, tiles in loops), NO_WORK)


def parts(total: int, count: int) -> Iterator[int]:
    """Cut `total` in at most `count` parts of equal size, the last one smaller."""
    size = ceil_div(total, count)
    while total > 0:
        yield min(size, total)
        total -= size


def prefetch_bytes(l2_bytes: int) -> int:
    """Return the most bytes of activations of one prefetch."""
    return max(1, l2_bytes // _BLOCK_L2_SHARE)


def blocks(rows: int, traffic: Traffic, l2_bytes: int) -> list[int]:
    """Cut rows in blocks whose activations fit a prefetch."""
    moved = max(traffic.read_bytes, traffic.write_bytes)
    prefetches = ceil_div(moved, prefetch_bytes(l2_bytes))
    return list(parts(rows, max(1, min(prefetches, _MOST_BLOCKS))))


def cut_evenly(total: int, weights: list[int]) -> list[int]:
    """Cut `total` in proportion to `weights`, exactly."""
    sums = list(itertools.accumulate(weights))
    edges = [0, *(total * part // sums[-1] for part in sums)]
    return [end - begin for begin, end in itertools.pairwise(edges)]


def row_stage(
    rows: int,
    row: WorkItem,
    most_threads: int,
    traffic: Traffic,
    target: Target,
    call_packets: int = 0,
    *,
    streams: int = 1,
) -> Stage:
    """Spread equal rows over `most_threads` workers at most, streaming `traffic` block by block.

    `streams` are the prefetches under way at the same time.
    call_packets: packets of each thread's call, which lasts for all blocks.
    """
    cut, call = blocks(rows, traffic, target.l2_bytes), WorkItem(call_packets)
    threads = min(most_threads, target.workers)
    reads = cut_evenly(traffic.read_bytes, cut)
    writes = cut_evenly(traffic.write_bytes, cut)
    return Stage(
        tuple(
            Slice(
                tuple(row.times(n) + (NO_WORK if number else call) for n in parts(block, threads)),
                read,
                write,
            )
            for number, (block, read, write) in enumerate(zip(cut, reads, writes, strict=True))
        ),
        threads,
        streams=streams,
    )


def per_vector_stage(
    shape: Shape,
    cost: LoopCost,
    most_threads: int,
    traffic: Traffic,
    target: Target,
    *,
    padded: bool = False,
    sheet_packets: int = 0,
    call_packets: int = 0,
) -> Stage:
    """Spread the rows of `shape` over threads; `cost` is per `cost.pixels` pixels of a slice.

    A tensor without spatial axes has one row and is stored flat, 128 elements to a vector. padded:
    the kernel computes the padding on the left of each row too. sheet_packets: packets around the
    loop for each row of a slice, beyond its epilogue and prologue. call_packets: packets of a job.
    """
    batch, height, width, channels = as_nhwc(shape)
    if height == width == 1:
        row = loop_work(cost, ceil_div(channels, cost.pixels * cost.channels), 1)
        return row_stage(batch, row, most_threads, traffic, target, call_packets)
    depth = depth_slices(channels)
    of_row = (padded_vectors if padded else row_vectors)(width)
    tiles = depth * ceil_div(of_row * PIXELS, cost.pixels)
    row = loop_work(cost, tiles, depth) + WorkItem(sheet_packets * depth)
    return row_stage(batch * height, row, most_threads, traffic, target, call_packets)


def per_vector_model(
    loop: Callable[[KernelCall[Any], Target], Kernel],
    most_threads: Callable[[KernelCall[Any], Target], int] = lambda _, target: target.workers,
) -> KernelModel:
    """Return the model of a layer with one loop over the vectors of its result.

    Threads share the rows. The loop reads the parameters too, and computes the padding on the left.
    """

    def streams(call: KernelCall, target: Target) -> tuple[Kernel, ...]:
        return (loop(call, target),)

    def work(call: KernelCall, target: Target, traffic: Traffic) -> NodeWork:
        shape, cost = call.results[0], loop(call, target).cost
        read, threads = traffic.reading(call.parameter_bytes), most_threads(call, target)
        stage = per_vector_stage(shape, cost, threads, read, target, padded=True)
        return NodeWork((stage,), "kernel")

    return KernelModel(streams, work)


def waiting_for_l2(stage: Stage, operands: int, slots: float) -> Stage:
    """Return the stage whose loop waits `slots` for each of its `operands` of every vector.

    The loop reads its operands and writes one vector.
    """
    if not slots:
        return stage

    def waiting(item: WorkItem) -> WorkItem:
        loads = item.l2_bytes // VECTOR_BYTES * operands // (operands + 1)
        return replace(item, stalls=item.stalls + round(loads * slots))

    return _with_items(stage, [waiting(item) for item in stage.items])


def without_prefetch(stage: Stage, missing_bytes: int, workers: int) -> Stage:
    """Return the stage on at most `workers`, whose own loads bring `missing_bytes` from DDR."""
    items = list(stage.items)
    shares = cut_evenly(missing_bytes, [item.packets for item in items])
    missing = [
        replace(item, missing_bytes=share) for item, share in zip(items, shares, strict=True)
    ]
    slices = tuple(replace(piece, read_bytes=0) for piece in stage.slices)
    return _with_items(replace(stage, slices=slices, threads=min(stage.threads, workers)), missing)


def missing_bytes(operands: Sequence[Shape], result: Shape, read_bytes: int, l2_bytes: int) -> int:
    """Return the bytes of operands that are not in L2 when a loop comes to them.

    The operands were written in the order in which they are read. Each line of the result evicts
    the line that was used longest ago: once L2 is full, that is the one to be read next, whose
    return evicts the next, and so on. `read_bytes` are missing before the loop begins.
    """
    size, written = sum(map(stored_bytes, operands)), stored_bytes(result)
    room = max(0, l2_bytes - size)
    evicted = size * max(0, written - room) // max(1, written)
    return max(read_bytes, evicted)


def _with_items(stage: Stage, items: Sequence[WorkItem]) -> Stage:
    each = iter(items)
    return replace(
        stage,
        slices=tuple(
            replace(piece, items=tuple(next(each) for _ in piece.items)) for piece in stage.slices
        ),
    )
