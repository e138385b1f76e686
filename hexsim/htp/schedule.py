"""When the operations of a compiled graph run: DMA ahead as far as VTCM holds it, the rest behind.

Operations run in order, each as long as the slowest of HMX, HVX and the ports of VTCM takes, and
the cost of an operation. DMA brings weights and spilled activations in the same order. It runs
ahead of the operations while half of VTCM holds the weights that it brings. An operation begins
once its first bytes are there and does not end before its last.

This is the time of a graph alone, in closed form; `hexsim.htp.engine` is the same on the event
engine, where graphs wait for each other and DDR is shared. Left out: operations side by side.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from hexsim.htp.compiler import RESIDENT_SHARE, HtpOperation
from hexsim.htp.machine import HtpMachine


@dataclass(frozen=True)
class ScheduledOperation:
    """An operation in time, in seconds from the start of the graph.

    `hmx_s`, `hvx_s`, `port_s` and `dma_s` are what each part alone takes of it; `busy_s` what the
    slowest of the first three does, `overhead_s` the cost of an operation.
    """

    operation: HtpOperation
    start_s: float
    end_s: float
    hmx_s: float
    hvx_s: float
    port_s: float
    dma_s: float
    overhead_s: float

    @property
    def busy_s(self) -> float:
        """What HMX, HVX and ports take, side by side."""
        return max(self.hmx_s, self.hvx_s, self.port_s)

    @property
    def waiting_s(self) -> float:
        """What is left for waiting until DMA has brought its bytes."""
        return max(0.0, self.end_s - self.start_s - self.busy_s - self.overhead_s)


def gates(operations: Sequence[HtpOperation], vtcm_bytes: int) -> tuple[int, ...]:
    """How many operations have to have ended before DMA begins for each, as far as VTCM goes."""
    ahead = vtcm_bytes * RESIDENT_SHARE
    held = [0.0]
    first = 0
    found = []
    for at, operation in enumerate(operations):
        held.append(held[-1] + operation.cost.weight_bytes)
        while first < at and held[at + 1] - held[first] > ahead:
            first += 1
        found.append(first)
    return tuple(found)


def schedule(
    operations: Sequence[HtpOperation], machine: HtpMachine
) -> tuple[ScheduledOperation, ...]:
    """Run a graph; the first operation begins after the cost of the graph."""
    ends = [machine.graph_s]
    fetched = 0.0
    runs = []
    for operation, ended in zip(operations, gates(operations, machine.vtcm_bytes), strict=True):
        gate = ends[ended] if ended else 0.0
        moved = operation.cost.weight_bytes + operation.spill_bytes
        dma_s = moved / machine.ddr_bytes_per_s
        begun = max(fetched, gate)
        fetched = begun + dma_s
        start = ends[-1]
        hmx_s, hvx_s, port_s = machine.parts_s(operation)
        work = max(hmx_s, hvx_s, port_s) + machine.operator_s
        end = max(max(start, begun) + work, fetched)
        runs.append(
            ScheduledOperation(
                operation, start, end, hmx_s, hvx_s, port_s, dma_s, machine.operator_s
            )
        )
        ends.append(end)
    return tuple(runs)
