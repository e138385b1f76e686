"""One FastRPC call: the executor on the Q6 runs subnets in order on HVX and the tensor engine.

The cost of entering the DSP is paid once for each call. A call with a subnet for the tensor engine
is an AIP call: handing over each subnet takes time, HVX converts between the layouts of the two
engines, and an interrupt of the tensor engine wakes the executor when a command list is done.
The vector contexts are locked while HVX works and unlocked while the tensor engine works.

Left out: data that the executor may prepare between the subnets of one call.
"""

from collections.abc import Iterable, Iterator
from functools import partial

from hexsim.host import entry
from hexsim.host.entry import Call, EntryPart
from hexsim.hta.engine import LayerRun, further_rows_s
from hexsim.planning.plan import JoinedSubnets, KernelCall
from hexsim.q6_scheduler import GraphSession
from hexsim.simulation.ledger import Ledger, timing_of
from hexsim.simulation.phone import Phone, Request
from hexsim.simulation.subnet_work import DspWork, HtaWork, subnet_works
from hexsim.timing.picoseconds import PS_PER_SECOND, seconds_to_ps
from hexsim.timing.results import LayerTiming, NodeTiming
from hexsim.timing.simtime import Process
from hexsim.timing.work import NodeWork, Slice, Stage

_NO_WORK = NodeWork((), "none")


class DspCall:
    """Subnets prepared for one phone; they can be run any number of times."""

    def __init__(
        self, phone: Phone, session: GraphSession, request: Request, joined: JoinedSubnets
    ) -> None:
        self._phone = phone
        self._session = session
        self._request = request
        self._joined = joined
        on_dsp = entry.converts_inputs_on_dsp(phone.stack, request.buffer)
        self._works = subnet_works(joined, phone, inputs_in_l2=on_dsp)

    def run(self, ledger: Ledger, idle_s: float) -> Process:
        """Enter the DSP, run the subnets and return."""
        phone, request, env = self._phone, self._request, self._phone.env
        call = Call(self._joined, phone.chip, phone.stack, request.profile, request.buffer, idle_s)
        for part in entry.parts_before_graph(call):
            yield from self._part(ledger, part)
        begin = env.now
        for work in self._works:
            if isinstance(work, DspWork):
                yield from self._on_hvx(ledger, work)
            else:
                yield from self._on_hta(ledger, work)
        for part in entry.parts_on_dsp_after_graph(call):
            yield from self._part(ledger, part)
        for part in entry.parts_after_dsp(call, (env.now - begin) / PS_PER_SECOND):
            yield from self._part(ledger, part)

    def _on_hvx(self, ledger: Ledger, work: DspWork) -> Process:
        """Run a subnet of Hexagon NN; a call without the tensor engine needs no hand-over."""
        if self._joined.uses_hta:
            yield from self._hand_over(ledger, "hnn_subnet")
        yield from self._session.lock_contexts()
        ledger.overhead("context_wait", scope="graph")
        yield from self._edges(ledger, work.input_conversions)
        for call, node in zip(work.subnet.calls, work.calls, strict=True):
            factor = self._phone.chip.layer_factor(work.subnet.runtime, call.layer_class)
            timing = yield from self._session.run_node(call.layer.name, node, factor)
            ledger.layer(partial(self._hvx_layer, call, node, timing))
        yield from self._edges(ledger, work.output_conversions)
        self._session.unlock_contexts()

    def _on_hta(self, ledger: Ledger, work: HtaWork) -> Process:
        """Convert the inputs to the engine's layout, run its command list, convert the outputs.

        The executor's own thread converts, so it waits for no vector contexts of Hexagon NN: four
        instances of Inception v3 on the engine make 260 inferences a second on sd865, and 77 more
        with another one on the DSP (energy.csv).
        """
        engine, session = self._phone.hta, self._session
        yield from self._edges(ledger, work.input_conversions)
        yield from self._hand_over(ledger, "hta_subnet")
        yield from self._map(ledger, work)
        charge = partial(self._hta_layer, ledger, iter(work.subnet.calls))
        yield from engine.run(work.command_list, charge, self._request.urgency)
        further_s = further_rows_s(
            work.subnet.calls, self._phone.chip, self._phone.stack, self._request.profile
        )
        if further_s:
            yield self._phone.env.timeout(seconds_to_ps(further_s))
            ledger.overhead("hta_rows", scope="graph")
        yield from session.run_clocks("hta_interrupt", self._phone.stack.qurt.wake_clk)
        ledger.overhead("hta_interrupt", scope="graph")
        yield from self._edges(ledger, work.output_conversions)

    def _hand_over(self, ledger: Ledger, name: str) -> Process:
        rules = self._phone.stack.partitioning
        seconds = rules.hta_subnet_s if name == "hta_subnet" else rules.hnn_subnet_s
        yield self._phone.env.timeout(seconds_to_ps(seconds))
        ledger.overhead(name, scope="graph")

    def _map(self, ledger: Ledger, work: HtaWork) -> Process:
        """Make the large tensors at the subnet's edges visible to the engine."""
        stack = self._phone.stack
        mapped = sum(size >= stack.entry.mapped_from_bytes for size in work.edge_bytes)
        if mapped:
            seconds = mapped * stack.partitioning.hta_tensor_s
            yield self._phone.env.timeout(seconds_to_ps(seconds))
            ledger.overhead("hta_tensors", scope="graph")

    def _edges(self, ledger: Ledger, edges: Iterable[tuple[str, NodeWork]]) -> Process:
        for name, work in edges:
            yield from self._session.run_node(name, work)
            ledger.overhead(name, work=work, scope="graph")

    def _part(self, ledger: Ledger, part: EntryPart) -> Process:
        """Spend the time of one named part on the processor that runs it."""
        start, work = self._phone.env.now, _NO_WORK
        if part.place == "host":
            yield self._phone.cores.run(seconds_to_ps(part.seconds))
            ledger.aside("cpu", part.name, start)
        elif part.place == "link":
            yield self._phone.env.timeout(seconds_to_ps(part.seconds))
            ledger.aside("fastrpc", part.name, start)
        else:
            item = self._session.item(part.clocks, vector=part.place == "hvx")
            work = NodeWork((Stage((Slice((item,)),), threads=1),), "none")
            yield from self._session.run_item(part.name, item)
        ledger.overhead(part.name, work=work, scope=part.scope)

    def _hvx_layer(self, call: KernelCall, work: NodeWork, timing: NodeTiming) -> LayerTiming:
        dsp = self._phone.dsp
        duration_ps = timing.end_ps - timing.start_ps
        peak_packets = dsp.core.packets_in(duration_ps) * self._phone.chip.dsp.hvx.contexts
        return timing_of(call)(
            start_ps=timing.start_ps,
            duration_ps=duration_ps,
            clock_hz=dsp.clock_hz,
            packets=work.packets,
            stalls=round(sum(dsp.core.stall_slots(item) for item in work.items)),
            hvx_utilisation=work.vector_packets / max(1.0, peak_packets),
            ddr_read_bytes=work.read_bytes,
            ddr_write_bytes=work.write_bytes,
            l2_bytes=work.l2_bytes,
            vtcm_bytes=work.vtcm_bytes,
            parts_ps=timing.parts_ps,
            cost_model=work.cost_model,
        )

    def _hta_layer(self, ledger: Ledger, calls: Iterator[KernelCall], run: LayerRun) -> None:
        """Charge a layer that the tensor engine has just finished."""
        call, engine, part = next(calls), self._phone.hta, run.part
        duration_ps = run.end_ps - run.start_ps
        ledger.layer(
            lambda: timing_of(call)(
                start_ps=run.start_ps,
                duration_ps=duration_ps,
                clock_hz=engine.clock_hz,
                array_utilisation=call.macs / max(1.0, engine.macs_in(duration_ps)),
                ddr_read_bytes=part.read_bytes,
                ddr_write_bytes=part.write_bytes,
                parts_ps=run.parts_ps,
                cost_model="tiles",
            )
        )
