"""Turns loop costs into work items: rows are shared by threads, blocks of rows by prefetches.

A kernel states the cost of one row of its output; this file cuts the rows in equal parts for the
worker threads and, if activations come from or go to DDR, in blocks that fit a prefetch.
"""

import itertools
from collections.abc import Iterable, Iterator

from hexsim.hvx.layout import VECTOR_BYTES, ceil_div
from hexsim.hvx.streams import Kernel, LoopCost
from hexsim.timing.memory import Traffic
from hexsim.timing.work import Slice, Stage, WorkItem

_MOST_BLOCKS = 8
"""The most blocks of rows of a layer; more would only change its first fetch."""
_BLOCK_L2_SHARE = 8
"""A prefetch of activations takes at most 1/8 of L2 (Hexagon NN: 32 KB to 64 KB)."""
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
    threads: int,
    traffic: Traffic,
    l2_bytes: int,
    call_packets: int = 0,
    *,
    streams: int = 1,
) -> Stage:
    """Spread `rows` equal rows over `threads`, streaming `traffic` block by block.

    `streams` are the prefetches under way at the same time.
    call_packets: packets of each thread's call, which lasts for all blocks.
    """
    cut, call = blocks(rows, traffic, l2_bytes), WorkItem(call_packets)
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
