"""When the operations of a compiled graph run: DMA prefetches as far as VTCM has room.

Operations run in order. Each takes the time of the slowest of HMX, HVX and the ports of VTCM, plus
a constant time per operation. DMA fetches weights and spilled activations in the same order. It
runs ahead of the operations while the weights fit half of VTCM. An operation begins
when its first bytes arrive and does not end before its last.

This is the time of a graph alone, in closed form; `hexsim.htp.engine` has the same rules in the
event simulation, where graphs wait for each other and DDR is shared. Left out: operations that run
at the same time.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from hexsim.htp.compiler import RESIDENT_SHARE, HtpOperation
from hexsim.htp.machine import HtpMachine


@dataclass(frozen=True)
class ScheduledOperation:
    """An operation in time, in seconds from the start of the graph.

    `hmx_s`, `hvx_s`, `port_s` and `dma_s` are the times of each part alone, `overhead_s` the
    constant time per operation.
    """

    operation: HtpOperation
    start_s: float
    end_s: float
    hmx_s: float
    hvx_s: float
    port_s: float
    dma_s: float
    overhead_s: float


def gates(operations: Sequence[HtpOperation], vtcm_bytes: int) -> tuple[int, ...]:
    """Return for each operation how many must have ended before DMA has room for its weights."""
    ahead = vtcm_bytes * RESIDENT_SHARE
    fetched_bytes = [0.0]
    first = 0
    ended_before = []
    for at, operation in enumerate(operations):
        fetched_bytes.append(fetched_bytes[-1] + operation.cost.fetched_bytes)
        while first < at and fetched_bytes[at + 1] - fetched_bytes[first] > ahead:
            first += 1
        ended_before.append(first)
    return tuple(ended_before)


def schedule(
    operations: Sequence[HtpOperation], machine: HtpMachine
) -> tuple[ScheduledOperation, ...]:
    """Schedule a graph; its first operation begins after the start of the graph."""
    end_times = [machine.graph_s]
    fetched = 0.0
    runs = []
    for operation, ended in zip(operations, gates(operations, machine.vtcm_bytes), strict=True):
        gate = end_times[ended] if ended else 0.0
        moved = operation.cost.fetched_bytes + operation.spill_bytes
        dma_s = moved * operation.slower / machine.ddr_bytes_per_s
        begun = max(fetched, gate)
        fetched = begun + dma_s
        start = end_times[-1]
        hmx_s, hvx_s, port_s = machine.parts_s(operation)
        overhead_s = machine.overhead_s(operation)
        work = max(hmx_s, hvx_s, port_s) + overhead_s
        end = max(max(start, begun) + work, fetched)
        runs.append(
            ScheduledOperation(operation, start, end, hmx_s, hvx_s, port_s, dma_s, overhead_s)
        )
        end_times.append(end)
    return tuple(runs)
