"""One inference: from the application through its subnets and back, charged part by part.

The process of an inference walks along its critical path. Whatever time passes is charged, the
moment it has passed, to one layer or one named overhead; so they add up to the total exactly.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property

from hexsim.dsp_work import DspWork, dsp_work
from hexsim.graph.ir import Shape
from hexsim.host import cpu, entry, gpu
from hexsim.host.entry import Call, Part
from hexsim.hvx.orientation import laid_down
from hexsim.layers import Opaque
from hexsim.machine import Machine
from hexsim.node_timing import NodeTiming
from hexsim.plan import KernelCall, Plan, PlannedSubnet
from hexsim.q6_scheduler import GraphSession
from hexsim.results import InferenceTiming, LayerTiming, Overhead, Span
from hexsim.simtime import PS_PER_SECOND, Environment, Process, seconds_to_ps
from hexsim.stacks import BufferType, Profile
from hexsim.work import NodeWork


@dataclass(frozen=True)
class Request:
    """How one job's inferences are run; `name` prefixes the tracks of its spans."""

    job: int
    name: str
    plan: Plan
    profile: Profile
    buffer: BufferType
    idle_s: float
    urgency: int


_NO_WORK = NodeWork((), "none")


@dataclass
class _Ledger:
    """The charges of one inference so far; `now` is where the last one ended."""

    env: Environment
    spans: list[Span]
    track: str
    now: int
    layers: list[LayerTiming] = field(default_factory=list)
    overheads: list[Overhead] = field(default_factory=list)

    def overhead(self, name: str, *, forward: bool = True, work: NodeWork = _NO_WORK) -> None:
        """Charge the time since the last charge to a named part, in which `work` was done."""
        start, self.now = self.now, self.env.now
        if self.now > start:
            self.overheads.append(
                Overhead(
                    name,
                    start,
                    self.now - start,
                    forward,
                    work.read_bytes,
                    work.write_bytes,
                    work.l2_bytes,
                    work.vtcm_bytes,
                )
            )
            self.spans.append(Span(self.track, name, start, self.now))

    def layer(self, timing: LayerTiming) -> None:
        """Charge the time since the last charge to a layer."""
        self.layers.append(timing)
        self.spans.append(Span(self.track, timing.name, self.now, self.env.now))
        self.now = self.env.now


class Inference:
    """Runs one request again and again; what does not depend on time is prepared once."""

    def __init__(self, machine: Machine, request: Request) -> None:
        self._machine = machine
        self._request = request
        self._prepared: dict[int, DspWork] = {}

    @cached_property
    def _session(self) -> GraphSession:
        return self._machine.dsp.session(f"{self._request.name}q6", self._request.urgency)

    def run(self) -> Process:
        """Run one inference now; the process returns its `InferenceTiming`."""
        env = self._machine.env
        start = env.now
        ledger = _Ledger(env, self._machine.spans, f"{self._request.name}inference", start)
        subnets = self._request.plan.subnets
        if subnets:
            yield from self._copy(ledger, "input_copy", subnets[0].input_shapes)
        for index, subnet in enumerate(subnets):
            begin = env.now
            if subnet.engine == "hvx":
                yield from self._on_dsp(ledger, index, laid_down(subnet))
            else:
                yield from self._on_host(ledger, subnet)
            self._record("subnets", f"subnet {index} ({subnet.engine})", begin)
        if subnets:
            yield from self._copy(ledger, "output_copy", subnets[-1].output_shapes)
        return InferenceTiming(
            self._request.job, start, env.now, tuple(ledger.layers), tuple(ledger.overheads)
        )

    def _copy(self, ledger: _Ledger, name: str, shapes: tuple[Shape, ...]) -> Process:
        """Copy float buffers on the application's side of the call."""
        if self._request.buffer == "float":
            elements = sum(math.prod(shape) for shape in shapes)
            seconds = elements * self._machine.stack.application.copy_s_per_element
            start = self._machine.env.now
            yield self._machine.cores.run(seconds_to_ps(seconds))
            self._record("cpu", name, start)
        ledger.overhead(name, forward=False)

    def _on_host(self, ledger: _Ledger, subnet: PlannedSubnet) -> Process:
        """Run a CPU or GPU subnet, layer by layer, with the engine to itself."""
        machine = self._machine
        if subnet.engine == "gpu":
            engine, roofline, clock_hz = machine.gpu, gpu.roofline, machine.chip.gpu.clock_hz
        else:
            engine, roofline, clock_hz = machine.cpu, cpu.roofline, machine.chip.cpu.clock_hz
        with engine.request(priority=self._request.urgency) as turn:
            yield turn
            ledger.overhead(f"{subnet.engine}_wait")
            for call in subnet.calls:
                cost = roofline(call, machine.chip, machine.stack)
                start = machine.env.now
                if subnet.engine == "cpu":
                    yield machine.cores.run(cost.duration_ps, machine.chip.cpu.cores)
                else:
                    yield machine.env.timeout(cost.duration_ps)
                self._record(subnet.engine, call.layer.name, start)
                ledger.layer(
                    LayerTiming(
                        name=call.layer.name,
                        type=call.layer.type,
                        engine=call.engine,
                        start_ps=start,
                        duration_ps=machine.env.now - start,
                        clock_hz=clock_hz,
                        macs=call.macs,
                        packets=0,
                        stalls=0,
                        hvx_utilisation=0.0,
                        ddr_read_bytes=call.operand_bytes + call.parameter_bytes,
                        ddr_write_bytes=call.result_bytes,
                        l2_bytes=0,
                        vtcm_bytes=0,
                        parts_ps=cost.parts_ps,
                        cost_model="generic" if isinstance(call.layer, Opaque) else "analytic",
                    )
                )

    def _on_dsp(self, ledger: _Ledger, index: int, subnet: PlannedSubnet) -> Process:
        """Call into the DSP, run the graph, and come back."""
        request, env = self._request, self._machine.env
        dsp, session = self._machine.dsp, self._session
        idle_s = request.idle_s if index == 0 else 0.0
        call = Call(
            subnet, self._machine.chip, self._machine.stack, request.profile, request.buffer, idle_s
        )
        for part in entry.way_in(call):
            yield from self._part(ledger, part)
        begin = env.now
        yield from session.lock_contexts()
        ledger.overhead("context_wait")
        if index not in self._prepared:
            self._prepared[index] = dsp_work(
                subnet, dsp.target, inputs_in_l2=call.converts_inputs_on_dsp
            )
        prepared = self._prepared[index]
        for name, work in prepared.way_in:
            yield from self._edge(ledger, name, work)
        for kernel_call, work in zip(subnet.calls, prepared.calls, strict=True):
            timing = yield from session.run_node(kernel_call.layer.name, work)
            ledger.layer(self._layer(kernel_call, work, timing))
        for name, work in prepared.way_out:
            yield from self._edge(ledger, name, work)
        session.unlock_contexts()
        for part in entry.leave_dsp(call):
            yield from self._part(ledger, part)
        for part in entry.way_out(call, (env.now - begin) / PS_PER_SECOND):
            yield from self._part(ledger, part)

    def _part(self, ledger: _Ledger, part: Part) -> Process:
        """Spend one named part where it runs."""
        start = self._machine.env.now
        if part.place == "host":
            yield self._machine.cores.run(seconds_to_ps(part.seconds))
            self._record("cpu", part.name, start)
        elif part.place == "link":
            yield self._machine.env.timeout(seconds_to_ps(part.seconds))
            self._record("fastrpc", part.name, start)
        else:
            yield from self._session.run_clocks(part.name, part.clocks, vector=part.place == "hvx")
        ledger.overhead(part.name)

    def _record(self, track: str, name: str, start: int) -> None:
        """Leave a span on one of the request's own tracks."""
        now = self._machine.env.now
        if now > start:
            self._machine.spans.append(Span(f"{self._request.name}{track}", name, start, now))

    def _edge(self, ledger: _Ledger, name: str, work: NodeWork) -> Process:
        """Run a change of layout at the edge of a subnet as a node of its own."""
        yield from self._session.run_node(name, work)
        ledger.overhead(name, work=work)

    def _layer(self, call: KernelCall, work: NodeWork, timing: NodeTiming) -> LayerTiming:
        dsp = self._machine.dsp
        duration_ps = timing.end_ps - timing.start_ps
        most = dsp.core.packets_in(duration_ps) * self._machine.chip.dsp.hvx.contexts
        return LayerTiming(
            name=call.layer.name,
            type=call.layer.type,
            engine=call.engine,
            start_ps=timing.start_ps,
            duration_ps=duration_ps,
            clock_hz=dsp.clock_hz,
            macs=call.macs,
            packets=work.packets,
            stalls=round(sum(dsp.core.stall_slots(item) for item in work.items)),
            hvx_utilisation=work.vector_packets / max(1.0, most),
            ddr_read_bytes=work.read_bytes,
            ddr_write_bytes=work.write_bytes,
            l2_bytes=work.l2_bytes,
            vtcm_bytes=work.vtcm_bytes,
            parts_ps=timing.parts_ps,
            cost_model=work.cost_model,
        )
