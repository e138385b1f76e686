"""Turns loop costs into work items: rows are shared by threads, blocks of rows by prefetches.

A kernel states the cost of one row of its output; this file cuts the rows in equal parts for the
worker threads and, if activations come from or go to DDR, in blocks that fit a prefetch.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass

from hexsim.hvx.layout import VECTOR_BYTES, ceil_div
from hexsim.hvx.streams import LoopCost
from hexsim.timing.memory import Traffic
from hexsim.timing.work import Slice, Stage, WorkItem

_MOST_BLOCKS = 8
"""The most blocks of rows of a layer; more would only change its first fetch."""
_BLOCK_L2_SHARE = 8
"""A prefetch of activations takes at most 1/8 of L2 (Hexagon NN: 32 KB to 64 KB)."""


@dataclass(frozen=True, slots=True)
class RowCost:
    """The cost of one row of an output on one thread.

    stalls: empty slots of its tiles. Empty slots between rows of tiles, and in entry
    and exit of calls, are few and counted as packets.
    """

    packets: int = 0
    stalls: int = 0
    scalar_fed: int = 0
    l2_bytes: int = 0
    vtcm_bytes: int = 0

    @classmethod
    def of(cls, cost: LoopCost, tiles: int, loop_rows: int = 0) -> RowCost:
        """Return the cost of `tiles` tiles in `loop_rows` rows of tiles (rows of one slice)."""
        stalls = cost.stalls * tiles
        packets = cost.tile * tiles + cost.row * loop_rows - stalls
        return cls(
            packets,
            stalls,
            packets if cost.scalar_fed else 0,
            cost.l2_vectors * tiles * VECTOR_BYTES,
            cost.vtcm_vectors * tiles * VECTOR_BYTES,
        )

    def __add__(self, other: RowCost) -> RowCost:
        return RowCost(
            self.packets + other.packets,
            self.stalls + other.stalls,
            self.scalar_fed + other.scalar_fed,
            self.l2_bytes + other.l2_bytes,
            self.vtcm_bytes + other.vtcm_bytes,
        )

    def item(self, rows: int, call_packets: int = 0) -> WorkItem:
        """Return one job of `rows` rows, with the packets of its calls."""
        return WorkItem(
            self.packets * rows + call_packets,
            self.stalls * rows,
            self.scalar_fed * rows,
            self.l2_bytes * rows,
            self.vtcm_bytes * rows,
        )


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
    row: RowCost,
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
    cut = blocks(rows, traffic, l2_bytes)
    reads = cut_evenly(traffic.read_bytes, cut)
    writes = cut_evenly(traffic.write_bytes, cut)
    return Stage(
        tuple(
            Slice(
                tuple(row.item(n, 0 if number else call_packets) for n in parts(block, threads)),
                read,
                write,
            )
            for number, (block, read, write) in enumerate(zip(cut, reads, writes, strict=True))
        ),
        threads,
        streams=streams,
    )
