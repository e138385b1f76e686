"""When the operations of a compiled graph run that has the phone to itself, in closed form.

The rules are those of `hexsim.htp.engine`, where graphs wait for each other and DDR is shared. Fits
need this quick form.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from hexsim.htp.compiler import HtpOperation, gates
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


def schedule(
    operations: Sequence[HtpOperation], machine: HtpMachine
) -> tuple[ScheduledOperation, ...]:
    """Schedule a graph; its first operation begins after the start of the graph."""
    end_times = [machine.graph_s]
    fetched = 0.0
    runs = []
    for operation, ended in zip(operations, gates(operations, machine.vtcm_bytes), strict=True):
        gate = end_times[ended] if ended else 0.0
        moved = operation.cost.weight_bytes + operation.spill_bytes
        dma_s = moved * operation.slower / machine.ddr_bytes_per_s
        begun = max(fetched, gate)
        fetched = begun + dma_s
        start = end_times[-1]
        hmx_s, hvx_s, port_s = machine.parts_s(operation)
        overhead_s = machine.overhead_s(operation)
        work = max(hmx_s, hvx_s, port_s) + overhead_s
        states_s = operation.cost.state_bytes / machine.hvx_ddr_bytes_per_s
        ready = fetched if operation.fills_vtcm else begun
        end = max(max(start, ready) + max(work, states_s), fetched)
        runs.append(
            ScheduledOperation(operation, start, end, hmx_s, hvx_s, port_s, dma_s, overhead_s)
        )
        end_times.append(end)
    return tuple(runs)


def scaled(times: Mapping[str, float], factors: Mapping[str, float]) -> dict[str, float]:
    """Times of vectors by kind, each times its factor."""
    return {kind: seconds * factors.get(kind, 1.0) for kind, seconds in times.items()}
