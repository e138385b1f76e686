"""The tensor processor in time: DMA fetches data, operations run one after another.

Each operation takes the time of the slowest of HMX, HVX and the ports of VTCM, plus a constant one;
steps that depend on each other use HMX and HVX in turn.
HVX reads states from DDR while their operation runs. DMA fetches weights and spilled activations in
the same order, as a stream of the shared path to DDR. It runs ahead of the operations while the
weights fit half of VTCM. An operation begins when its first bytes arrive and does not end before
its last. Spilled bytes are written after the bytes that it reads.

One graph runs at a time, the most urgent one first. Where graphs divide VTCM, several do (parallel
graph execution of QNN); operations that run at once share HMX, HVX and the ports of VTCM evenly.

Left out: preemption inside a graph.
"""

from collections.abc import Callable, Mapping, Sequence

import simpy

from hexsim.host.cpu_and_gpu import HostCores
from hexsim.htp.compiler import HtpOperation, gates
from hexsim.htp.machine import HtpMachine
from hexsim.records import dataclass
from hexsim.timing.fluid import Sojourn
from hexsim.timing.memory import Ddr
from hexsim.timing.picoseconds import PS_PER_SECOND, seconds_to_ps
from hexsim.timing.results import Bound, Span
from hexsim.timing.simtime import Activity, Environment, Moment, Process

OPERATIONS, DMA = "htp", "htp dma"
"""Names of the tracks."""
_UNITS = 3
"""HMX, HVX and the ports of VTCM."""


@dataclass(frozen=True)
class OperationRun:
    """When an operation ran, and the times of HMX or HVX, of the ports of VTCM and of its start.

    All in picoseconds; `port_ps` is the time of the ports beyond that of HMX and HVX. The rest is
    waiting for DDR.
    """

    operation: HtpOperation
    start_ps: int
    end_ps: int
    busy_ps: int
    port_ps: int
    overhead_ps: int
    hvx_ps: int

    @property
    def parts_ps(self) -> Mapping[Bound, float]:
        """Its duration, divided; the ports of VTCM count as l2."""
        waiting = self.end_ps - self.start_ps - self.busy_ps - self.port_ps - self.overhead_ps
        return {
            "compute": self.busy_ps,
            "ddr": waiting,
            "l2": self.port_ps,
            "overhead": self.overhead_ps,
        }


class TensorProcessor:
    """The tensor processor of one chip; `ddr` is the path to memory that it shares.

    It runs `graphs` at a time, each on a track of its own if there are more than one.
    """

    def __init__(
        self, env: Environment, ddr: Ddr, machine: HtpMachine, spans: list[Span], graphs: int = 1
    ) -> None:
        self._env = env
        self._ddr = ddr
        self._spans = spans
        self._turns = simpy.PriorityResource(env, graphs)
        self._places = [f" {place}" for place in range(graphs)] if graphs > 1 else [""]
        self._units = [HostCores(env, 1) for _ in range(_UNITS)] if graphs > 1 else []
        self.machine = machine

    def macs_in(self, duration_ps: int, *, floats: bool) -> float:
        """Return the multiply-accumulates that HMX could do in a duration."""
        machine = self.machine
        rate = machine.fp16_macs_per_s if floats else machine.int8_macs_per_s
        return duration_ps / PS_PER_SECOND * rate

    def turn(self, urgency: int) -> simpy.resources.resource.Request:
        """Request the processor; use the result as a context manager around `run`."""
        return self._turns.request(priority=urgency)

    def run(
        self,
        operations: Sequence[HtpOperation],
        started: Callable[[], None],
        done: Callable[[OperationRun], None],
    ) -> Process:
        """Run a graph; call `started` after its start and `done` with each operation that ends."""
        env, place = self._env, self._places.pop(0)
        begun, arrived, ended = ([Moment(env) for _ in operations] for _ in range(3))
        Activity(env, self._fetch(operations, place, begun, arrived, ended))
        yield env.timeout(seconds_to_ps(self.machine.graph_s))
        started()
        for at, operation in enumerate(operations):
            start = env.now
            hmx_s, hvx_s, port_s = self.machine.parts_s(operation)
            in_turn = operation.cost.steps > 0
            busy_ps = seconds_to_ps(hmx_s + hvx_s if in_turn else max(hmx_s, hvx_s))
            port_ps = max(0, seconds_to_ps(port_s) - busy_ps)
            overhead_ps = seconds_to_ps(self.machine.overhead_s(operation))
            yield arrived[at] if operation.fills_vtcm else begun[at]
            states = self._ddr.read(operation.state_bytes, self.machine.hvx_ddr_bytes_per_s)
            if self._units:
                busy_ps = yield from self._share((hmx_s, hvx_s, port_s), port_ps)
                yield env.timeout(overhead_ps)
            else:
                yield env.timeout(busy_ps + port_ps + overhead_ps)
            yield states
            yield arrived[at]
            ended[at].happen()
            self._record(OPERATIONS + place, operation, start)
            hvx_ps = seconds_to_ps(hvx_s)
            done(OperationRun(operation, start, env.now, busy_ps, port_ps, overhead_ps, hvx_ps))
        self._places.append(place)

    def _share(self, parts_s: Sequence[float], port_ps: int) -> Process:
        """Use the units beside other graphs; return the time, without that of the ports alone."""
        begun = self._env.now
        uses = zip(self._units, parts_s, strict=True)
        yield self._env.all_of([unit.run(seconds_to_ps(seconds)) for unit, seconds in uses])
        return self._env.now - begun - port_ps

    def _fetch(
        self,
        operations: Sequence[HtpOperation],
        place: str,
        begun: Sequence[Moment],
        arrived: Sequence[Moment],
        ended: Sequence[Moment],
    ) -> Process:
        """Fetch weights and spilled activations in order, as far ahead as VTCM has room."""
        waits = gates(operations, self.machine.vtcm_bytes)
        for at, operation in enumerate(operations):
            if waits[at]:
                yield ended[waits[at] - 1]
            begun[at].happen()
            yield from self._move(operation, place, operation.fetched_bytes, self._ddr.read)
            yield from self._move(operation, place, operation.write_bytes, self._ddr.write)
            arrived[at].happen()

    def _move(
        self,
        operation: HtpOperation,
        place: str,
        size: int,
        ask: Callable[[int, float], Sojourn[float]],
    ) -> Process:
        if size:
            start = self._env.now
            yield ask(round(size * operation.slower), self.machine.ddr_bytes_per_s)
            self._record(DMA + place, operation, start)

    def _record(self, track: str, operation: HtpOperation, start: int) -> None:
        if self._env.now > start:
            self._spans.append(Span(track, operation.call.layer.name, start, self._env.now))
