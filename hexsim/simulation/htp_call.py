"""One graph on the tensor processor: it is started, run operation by operation, and charged.

If layers of the same network run on the CPU before or after, the way there and the way back are
charged, and one core converts the tensors that cross. Otherwise the call by the application and the
return to it are charged, which depend on the performance profile.

Left out: conversions of inputs and outputs by the application. The published latencies do not
separate them from the start of a graph, whose time includes them.
"""

import math
from collections.abc import Iterable
from dataclasses import replace
from functools import partial
from weakref import WeakKeyDictionary

from hexsim.graph.ir import Network
from hexsim.htp.compiler import HtpOperation, compile_graph
from hexsim.htp.engine import OperationRun
from hexsim.planning.plan import JoinedSubnets
from hexsim.simulation.ledger import Ledger, timing_of
from hexsim.simulation.phone import Phone
from hexsim.timing.picoseconds import seconds_to_ps
from hexsim.timing.simtime import Process

CALL, CROSSINGS = "htp_call", ("from_cpu", "to_cpu")
"""Names of the overheads between the layers of a network on the CPU and a graph."""
_FLOAT_BYTES = 4
_known: WeakKeyDictionary[JoinedSubnets, dict[int, tuple[HtpOperation, ...]]] = WeakKeyDictionary()


def _compiled(network: Network, joined: JoinedSubnets, vtcm_bytes: int) -> tuple[HtpOperation, ...]:
    """Return the compiled graph, which is cached for each call, as simulations are repeated."""
    sizes = _known.setdefault(joined, {})
    if vtcm_bytes not in sizes:
        calls = [call for subnet in joined.subnets for call in subnet.calls]
        sizes[vtcm_bytes] = compile_graph(calls, network, vtcm_bytes)
    return sizes[vtcm_bytes]


class HtpCall:
    """Subnets of `network` that are one graph for one phone; it can be run any number of times."""

    def __init__(self, phone: Phone, network: Network, joined: JoinedSubnets, urgency: int) -> None:
        self._phone = phone
        self._urgency = urgency
        runtime, factor = joined.subnets[0].runtime, phone.chip.layer_factor
        self._graph = [
            replace(operation, slower=factor(runtime, operation.call.layer_class))
            for operation in _compiled(network, joined, phone.chip.htp.vtcm_bytes)
        ]
        self._in_s = self._crossing_s(network, joined, joined.inputs, frozenset(network.inputs))
        self._out_s = self._crossing_s(network, joined, joined.outputs, frozenset(network.outputs))

    def run(self, ledger: Ledger) -> Process:
        """Wait for the processor, and run the graph on it."""
        processor = self._phone.htp
        crosses = self._in_s or self._out_s
        yield from self._cross(ledger, 0.0 if crosses else self._phone.htp_call_s, CALL)
        yield from self._cross(ledger, self._in_s, CROSSINGS[0])
        with processor.turn(self._urgency) as turn:
            yield turn
            ledger.overhead("htp_wait")
            started = partial(ledger.overhead, "graph_start", scope="graph")
            yield from processor.run(self._graph, started, partial(self._charge, ledger))
        yield from self._cross(ledger, self._out_s, CROSSINGS[1])

    def _cross(self, ledger: Ledger, seconds: float, name: str) -> Process:
        """Wait for the way between graph and CPU, if there is one."""
        if seconds:
            yield self._phone.env.timeout(seconds_to_ps(seconds))
            ledger.overhead(name)

    def _crossing_s(
        self, network: Network, joined: JoinedSubnets, names: Iterable[str], ends: frozenset[str]
    ) -> float:
        """Return the seconds of one way, in which tensors are converted; 0 if none crosses.

        Each is read in one form and written in the other, floats on the side of the CPU.
        """
        crossing = [name for name in names if name not in ends]
        if not crossing:
            return 0.0
        moved = sum(
            math.prod(network.shape(name)) * (_FLOAT_BYTES + joined.bits.get(name, 8) / 8)
            for name in crossing
        )
        crossing_s = self._phone.stack.htp.crossing_s
        return crossing_s + moved / self._phone.chip.cpu.bandwidth_bytes_per_s

    def _charge(self, ledger: Ledger, run: OperationRun) -> None:
        operation, processor = run.operation, self._phone.htp
        call, duration_ps = operation.call, run.end_ps - run.start_ps
        peak_macs = processor.macs_in(duration_ps, floats=call.computes_float)
        ledger.layer(
            lambda: timing_of(call)(
                start_ps=run.start_ps,
                duration_ps=duration_ps,
                clock_hz=processor.machine.clock_hz,
                hvx_utilisation=run.hvx_ps / max(1, duration_ps),
                array_utilisation=call.macs / max(1.0, peak_macs),
                ddr_read_bytes=operation.read_bytes,
                ddr_write_bytes=operation.write_bytes,
                vtcm_bytes=operation.cost.port_bytes,
                parts_ps=run.parts_ps,
                cost_model="tiles",
            )
        )
