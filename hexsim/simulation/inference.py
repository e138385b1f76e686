"""One inference: from the application through its subnets and back, charged part by part.

The process of an inference follows its critical path. All time is charged, as soon as it has
passed, to one layer or one named overhead, so that these add up to the total exactly.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cached_property, partial
from typing import TYPE_CHECKING

from hexsim.graph.ir import Shape
from hexsim.host.cpu_and_gpu import cpu_cost, crossing_s, gpu_cost, launch_s
from hexsim.layers import Opaque, UserDefined
from hexsim.planning.plan import KernelCall, PlannedSubnet, joined_subnets
from hexsim.runtimes import Engine
from hexsim.simulation.htp_call import CROSSINGS, HtpCall
from hexsim.simulation.ledger import Ledger, timing_of
from hexsim.simulation.phone import Phone, Request
from hexsim.timing.picoseconds import seconds_to_ps
from hexsim.timing.results import InferenceTiming
from hexsim.timing.simtime import Process
from hexsim.timing.work import CostModel
from hexsim.udl import Processor

LAUNCHES = "gpu_launches"
"""Name of the time between the layers of a subnet on the GPU, which is charged after them."""

if TYPE_CHECKING:
    from hexsim.q6_scheduler import GraphSession
    from hexsim.simulation.dsp_call import DspCall


class RunningInference:
    """Runs one request any number of times; what does not depend on time is prepared once."""

    def __init__(self, phone: Phone, request: Request, *, lists_layers: bool = True) -> None:
        self._phone = phone
        self._lists_layers = lists_layers
        self._request = request
        self._joined = joined_subnets(request.plan)
        on_cpu = [subnet for subnet in request.plan.subnets if subnet.engine == "cpu"]
        self._written = {name for subnet in on_cpu for name in subnet.outputs}
        self._read = {name for subnet in on_cpu for name in subnet.inputs}
        self._calls: dict[int, DspCall] = {}
        self._graphs: dict[int, HtpCall] = {}

    @cached_property
    def _session(self) -> GraphSession:
        return self._phone.dsp.session(f"{self._request.name}q6", self._request.urgency)

    def run(self) -> Process:
        """Run one inference now; the process returns its `InferenceTiming`."""
        env = self._phone.env
        start = env.now
        track = f"{self._request.name}inference"
        ledger = Ledger(env, self._phone.spans, track, start, self._lists_layers)
        subnets = self._request.plan.subnets
        if subnets:
            yield from self._copy(ledger, "input_copy", subnets[0].input_shapes)
            yield from self._outside(ledger)
        number = 0
        for index, call in enumerate(self._joined):
            begin = env.now
            if call.on_dsp:
                idle_s = 0.0 if index else self._request.idle_s
                yield from self._call(index).run(ledger, idle_s)
            elif call.subnets[0].engine == "htp":
                yield from self._graph(index).run(ledger)
            else:
                yield from self._on_host(ledger, call.subnets[0])
            names = [f"subnet {n} ({s.engine})" for n, s in enumerate(call.subnets, number)]
            ledger.aside("subnets", " + ".join(names), begin)
            number += len(names)
        if subnets:
            yield from self._copy(ledger, "output_copy", subnets[-1].output_shapes)
        return InferenceTiming(
            self._request.job, start, env.now, tuple(ledger.layers), tuple(ledger.overheads)
        )

    def _call(self, index: int) -> DspCall:
        if index not in self._calls:
            from hexsim.simulation.dsp_call import DspCall  # as in Phone.dsp

            self._calls[index] = DspCall(
                self._phone, self._session, self._request, self._joined[index]
            )
        return self._calls[index]

    def _graph(self, index: int) -> HtpCall:
        if index not in self._graphs:
            request, joined = self._request, self._joined[index]
            self._graphs[index] = HtpCall(
                self._phone, request.plan.network, joined, request.urgency
            )
        return self._graphs[index]

    def _copy(self, ledger: Ledger, name: str, shapes: tuple[Shape, ...]) -> Process:
        """Copy float buffers on the application's side of the call."""
        if self._request.buffer == "float":
            elements = sum(math.prod(shape) for shape in shapes)
            seconds = elements * self._phone.stack.application.copy_s_per_element
            start = self._phone.env.now
            yield self._phone.cores.run(seconds_to_ps(seconds))
            ledger.aside("cpu", name, start)
        ledger.overhead(name, forward=False)

    def _outside(self, ledger: Ledger) -> Process:
        """Spend what the CPU runtime takes outside forward propagate, if all layers are on it."""
        subnets = self._request.plan.subnets
        if all(subnet.engine == "cpu" for subnet in subnets):
            floats = all(subnet.runtime != "fxp_cpu" for subnet in subnets)
            seconds = self._phone.stack.cpu_outside_s(floats=floats)
            yield self._phone.cores.run(seconds_to_ps(seconds))
            ledger.overhead("cpu_runtime", forward=False)

    def _on_host(self, ledger: Ledger, subnet: PlannedSubnet) -> Process:
        """Run a CPU or GPU subnet, layer by layer, with the engine to itself."""
        phone = self._phone
        runs: Callable[[int], object]
        if subnet.engine == "gpu":
            half = subnet.runtime == "gpu_fp16"
            engine, clock_hz, runs = phone.gpu, phone.chip.gpu.clock_hz, phone.env.timeout
            layer_cost = partial(gpu_cost, chip=phone.chip, stack=phone.stack, half=half)
        else:
            engine, clock_hz = phone.cpu, phone.chip.cpu.clock_hz
            runs = partial(phone.cores.run, threads=phone.chip.cpu.cores)
            layer_cost = partial(cpu_cost, chip=phone.chip, stack=phone.stack)
        with engine.request(priority=self._request.urgency) as turn:
            yield turn
            ledger.overhead(f"{subnet.engine}_wait")
            if subnet.engine == "gpu":
                yield from self._cross(ledger, subnet, CROSSINGS[0])
            for call in subnet.calls:
                factor = phone.chip.layer_factor(subnet.runtime, call.layer_class)
                cost = layer_cost(call).times(factor)
                start = phone.env.now
                yield runs(cost.duration_ps)
                ledger.aside(subnet.engine, call.layer.name, start)
                ledger.layer(
                    partial(
                        timing_of(call),
                        start_ps=start,
                        duration_ps=phone.env.now - start,
                        clock_hz=clock_hz,
                        ddr_read_bytes=call.operand_bytes + call.parameter_bytes,
                        ddr_write_bytes=call.result_bytes,
                        parts_ps=cost.parts_ps,
                        cost_model=_cost_model(call, subnet.engine),
                    )
                )
            if subnet.engine == "gpu":
                launches_s = launch_s(phone.stack) * len(subnet.calls)
                yield phone.env.timeout(seconds_to_ps(launches_s))
                ledger.overhead(LAUNCHES)
                yield from self._cross(ledger, subnet, CROSSINGS[1])

    def _cross(self, ledger: Ledger, subnet: PlannedSubnet, way: str) -> Process:
        """Bring what the CPU has written to the GPU, or to the CPU what it reads."""
        phone, network, comes = self._phone, self._request.plan.network, way == CROSSINGS[0]
        of_cpu, edge = (self._written, subnet.inputs) if comes else (self._read, subnet.outputs)
        sizes = [math.prod(network.shape(name)) for name in edge if name in of_cpu]
        for engine in (("cpu", "gpu") if comes else ("gpu", "cpu")) if sizes else ():
            start, seconds = phone.env.now, crossing_s(sizes, engine, phone.chip, phone.stack)
            runs = phone.cores.run if engine == "cpu" else phone.env.timeout
            yield runs(seconds_to_ps(seconds))
            ledger.aside(engine, way, start)
        ledger.overhead(way)


def _cost_model(call: KernelCall, engine: Engine) -> CostModel:
    """Return how the cost of a call on the host was calculated."""
    processor: Processor = "gpu" if engine == "gpu" else "cpu"
    if isinstance(call.layer, UserDefined) and processor in call.layer.known.costs:
        return "user"
    return "generic" if isinstance(call.layer, Opaque | UserDefined) else "analytic"
