"""One graph on the tensor processor: it is started, run operation by operation, and charged.

Left out: the call from the CPU, the return, and conversions of inputs and outputs. The published
latencies do not separate them from the start of a graph, whose fitted time includes them.
"""

from __future__ import annotations

from functools import partial

from hexsim.graph.ir import Network
from hexsim.htp.compiler import compile_graph
from hexsim.htp.engine import OperationRun
from hexsim.planning.plan import PlannedSubnet
from hexsim.simulation.ledger import Ledger
from hexsim.simulation.phone import Phone
from hexsim.timing.results import LayerTiming
from hexsim.timing.simtime import Process


class HtpCall:
    """A subnet of `network`, compiled for one phone; it can be run any number of times."""

    def __init__(self, phone: Phone, network: Network, subnet: PlannedSubnet, urgency: int) -> None:
        self._phone = phone
        self._urgency = urgency
        self._graph = compile_graph(subnet.calls, network, phone.chip.htp.vtcm_bytes)

    def run(self, ledger: Ledger) -> Process:
        """Wait for the processor, and run the graph on it."""
        processor = self._phone.htp
        with processor.turn(self._urgency) as turn:
            yield turn
            ledger.overhead("htp_wait")
            started = partial(ledger.overhead, "graph_start", scope="graph")
            yield from processor.run(self._graph, started, partial(self._charge, ledger))

    def _charge(self, ledger: Ledger, run: OperationRun) -> None:
        """Charge an operation that has just ended."""
        operation, processor = run.operation, self._phone.htp
        call, duration_ps = operation.call, run.end_ps - run.start_ps
        peak_macs = processor.macs_in(duration_ps, floats=call.computes_float)
        ledger.layer(
            LayerTiming(
                name=call.layer.name,
                type=call.layer.type,
                layer_class=call.layer_class,
                engine=call.engine,
                start_ps=run.start_ps,
                duration_ps=duration_ps,
                clock_hz=processor.machine.clock_hz,
                macs=call.macs,
                packets=0,
                stalls=0,
                hvx_utilisation=run.hvx_ps / max(1, duration_ps),
                array_utilisation=call.macs / max(1.0, peak_macs),
                ddr_read_bytes=operation.read_bytes,
                ddr_write_bytes=operation.write_bytes,
                l2_bytes=0,
                vtcm_bytes=operation.cost.port_bytes,
                parts_ps=run.parts_ps,
                cost_model="tiles",
            )
        )
