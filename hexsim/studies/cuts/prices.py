"""The price of a cut: layers on their engines, changes of layout, hand-overs, and entering the DSP.

`LayerTimes` has the time of each layer on each engine by itself. HVX: one simulated inference with
every layer there. HTA: the compiler's own sections, run on an idle engine; a layer outside of them
is compiled alone, as if the engine accepted it. CPU: its roofline. Changes of layout at the edges
of an HVX subnet run as nodes.

`Prices` adds them up for a cut. In a call into the DSP that uses the tensor engine every subnet is
handed over once, as in `hexsim.simulation.dsp_call`. An HVX subnet changes the layout of its inputs
and outputs, an HTA section only that of the application's inputs and outputs. A section also loads
from DDR and stores there the tensors that would stay on chip if it did not end there. A sum of
prices is an estimate, used to search cuts; `simulated` simulates a cut.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property

from hexsim.deployment import Deployment
from hexsim.deployment.platform import Platform
from hexsim.graph.ir import Network, Shape
from hexsim.host import entry
from hexsim.host.cpu_and_gpu import cpu_cost
from hexsim.host.entry import Call, EntryPart
from hexsim.hta.compiler import compile_subnet
from hexsim.hta.engine import LayerRun, further_rows_s
from hexsim.hvx.kernels import Target
from hexsim.hvx.kernels.conversion import from_d32, in_scalar_code, to_d32
from hexsim.hvx.layout import flat_tensors, stored_bytes
from hexsim.planning.plan import JoinedSubnets, PlannedSubnet, Subnet
from hexsim.planning.sections import Refusals, multiplying_runs, refusals
from hexsim.quantization.model import Model
from hexsim.records import dataclass, replace
from hexsim.runtimes import Engine
from hexsim.simulation.phone import Phone
from hexsim.timing.memory import Traffic
from hexsim.timing.picoseconds import PS_PER_US
from hexsim.timing.results import Result
from hexsim.timing.work import NodeWork, Stage

_US = 1e6

Change = Callable[[Shape, Target, Traffic, int], Stage | None]
"""A change of layout of a tensor of some shape, with its DDR traffic and the bits of its codes."""


@dataclass(frozen=True)
class LayerTimes:
    """Times of all layers of a model on aip by index, in microseconds.

    `perf_profile` None takes the stack's own.
    """

    deployment: Deployment
    perf_profile: str | None = None

    @property
    def model(self) -> Model:
        """The model that is cut."""
        return self.deployment.model

    @property
    def platform(self) -> Platform:
        """The platform."""
        return self.deployment.platform

    @property
    def network(self) -> Network:
        """The network."""
        return self.model.network

    @cached_property
    def refusals(self) -> Refusals:
        """The reason why the HTA refuses each layer, or None."""
        return refusals(self.model, self.platform.stack.partitioning)

    @cached_property
    def on_hvx(self) -> tuple[float, ...]:
        """Times on HVX; on the CPU where aip refuses the layer."""
        each_by_itself = self.deployment.with_sections((), rules="1.25+")
        result = each_by_itself.simulate(perf_profile=self.perf_profile)
        by_name = {layer.name: layer.us for layer in result.layers}
        return tuple(by_name[layer.name] for layer in self.network.layers)

    @cached_property
    def on_hta(self) -> tuple[float, ...]:
        """Times on the HTA, refused layers as if it accepted them."""
        sections = list(multiplying_runs(self.network, self.refusals))
        inside = {at for section in sections for at in section}
        alone = (range(n, n + 1) for n in range(len(self.network.layers)) if n not in inside)
        times_us: dict[int, float] = {}
        for section in (*sections, *alone):
            times_us.update(zip(section, self.hta_section(section), strict=True))
        return tuple(times_us[at] for at in range(len(times_us)))

    def hta_section(self, section: range) -> tuple[float, ...]:
        """Return the times of the layers of one section on an idle engine."""
        phone = self._phone
        subnet = self.subnet(section)
        chip, runs = self.platform.chip, list[LayerRun]()
        engine = phone.hta
        command_list = compile_subnet(subnet, chip.name, chip.hta)
        phone.env.run(phone.env.process(engine.run(command_list, runs.append)))
        return tuple((run.end_ps - run.start_ps) / PS_PER_US for run in runs)

    @property
    def hta_bytes_per_s(self) -> float:
        """Rate of the engine's DMA in each direction, alone."""
        return self._phone.hta.bytes_per_s

    @cached_property
    def on_cpu(self) -> tuple[float, ...]:
        """Times on the CPU runtime, in floats."""
        chip, stack = self.platform.chip, self.platform.stack
        calls = Deployment(self.model, self.platform, "cpu").plan.calls()
        return tuple(cpu_cost(call, chip, stack).duration_ps / PS_PER_US for call in calls)

    def subnet(self, section: range) -> PlannedSubnet:
        """Return a run of layers as a subnet of its own inside aip."""
        layers = self.network.layers[section.start : section.stop]
        (planned,) = self.deployment.with_cut([Subnet("aip", "hta", layers, "")]).plan.subnets
        return planned

    def bits(self, tensor: str) -> int:
        """Return the bits of a tensor's codes."""
        coded = self.model.activations.get(tensor)
        return coded.bitwidth if coded else 8

    def bytes(self, tensor: str) -> int:
        """Return the bytes of a tensor's codes without padding."""
        return math.prod(self.network.shape(tensor)) * self.bits(tensor) // 8

    def to_d32(self, tensor: str) -> float:
        """Return the time to bring a tensor into the layout of HVX; L2 overflow goes to DDR."""
        return self._layout(to_d32, tensor)

    def from_d32(self, tensor: str) -> float:
        """Return the time to bring a tensor out of the layout of HVX."""
        return self._layout(from_d32, tensor)

    def at_edge(self, tensor: str) -> float:
        """Return the time in which the executor changes a tensor's layout for the application."""
        return self._layout(in_scalar_code, tensor)

    def _layout(self, change: Change, tensor: str) -> float:
        shape, bits = self.network.shape(tensor), self.bits(tensor)
        key = (change, shape, bits)
        if key not in self._layouts:
            target = self._phone.dsp.target
            spilled = max(0, stored_bytes(shape) * bits // 8 - target.l2_bytes)
            traffic = Traffic(write_bytes=spilled) if change is to_d32 else Traffic(spilled)
            self._layouts[key] = self._node(change(shape, target, traffic, bits))
        return self._layouts[key]

    @cached_property
    def _layouts(self) -> dict[tuple[Change, Shape, int], float]:
        return {}

    def _node(self, stage: Stage | None) -> float:
        if stage is None:
            return 0.0
        phone = self._phone
        session, start = phone.dsp.session("", 0), phone.env.now
        node = session.run_node("", NodeWork((stage,), "kernel"))
        phone.env.run(phone.env.process(node))
        return (phone.env.now - start) / PS_PER_US

    @cached_property
    def _phone(self) -> Phone:
        chip, stack = self.platform.chip, self.platform.stack
        return Phone(chip, stack, [stack.profile(self.perf_profile)])


@dataclass(frozen=True)
class Price:
    """One subnet, in us: its layers, layout and DDR traffic at its edges, its hand-over.

    The hand-over counts only in a call that uses the tensor engine.
    """

    layers_us: float
    conversion_us: float
    dispatch_us: float

    @property
    def us(self) -> float:
        """The total."""
        return self.layers_us + self.conversion_us + self.dispatch_us


@dataclass(frozen=True)
class Prices:
    """The prices of one network on one platform."""

    times: LayerTimes

    def on(self, platform: Platform) -> Prices:
        """Return the prices of the same network on another platform."""
        return Prices(replace(self.times, deployment=self.times.deployment.on(platform)))

    def cut(self, sections: Sequence[range]) -> tuple[Subnet, ...]:
        """Return the subnets of the runtime with these HTA sections."""
        return self._with(sections).subnets

    def simulated(self, sections: Sequence[range]) -> Result:
        """Simulate one inference with these HTA sections."""
        return self._with(sections).simulate(perf_profile=self.times.perf_profile)

    def _with(self, sections: Sequence[range]) -> Deployment:
        layers = self.times.network.layers
        names = [tuple(layers[at].name for at in section) for section in sections]
        return self.times.deployment.with_sections(names)

    def total_us(self, sections: Sequence[range]) -> float:
        """Return the time of one inference with these HTA sections, as the sum of prices."""
        total = self._copies_us
        waiting: list[tuple[range, Engine]] = []
        for engine, span in placed(self.cut(sections)):
            if engine == "cpu":
                total += self._call_us(waiting) + sum(self.times.on_cpu[at] for at in span)
                waiting = []
            else:
                waiting.append((span, engine))
        return total + self._call_us(waiting)

    def subnet(self, engine: Engine, span: range) -> Price:
        """Return the price of one subnet of aip."""
        times, release = self.times, self.times.platform.stack.partitioning
        inputs, outputs = times.network.boundary(times.network.layers[span.start : span.stop])
        if engine == "hta":
            interrupt_us = times.platform.stack.qurt.wake_clk / self._clock_hz * _US
            return Price(
                self._hta_prefix[span.stop] - self._hta_prefix[span.start],
                self._application_us(inputs, outputs) + self._ddr_us(span, outputs),
                release.hta_subnet_s * _US
                + self._mapping_us(inputs, outputs)
                + self._further_rows_us(span)
                + interrupt_us,
            )
        changing = (name for name in inputs if name not in self._flat)
        conversion = sum(map(times.to_d32, changing)) + sum(map(times.from_d32, outputs))
        layers = self._hvx_prefix[span.stop] - self._hvx_prefix[span.start]
        return Price(layers, conversion, release.hnn_subnet_s * _US)

    def enter_us(self, span: range) -> tuple[float, float]:
        """Return the times to enter the DSP for the layers of `span`: conversion, and the rest."""
        return self._split(entry.parts_before_graph(self._call(span)))

    def leave_us(self, span: range, dsp_us: float) -> tuple[float, float]:
        """Return the times to leave the DSP after `dsp_us`: conversion to floats, and the rest."""
        call = self._call(span)
        return self._split(
            (*entry.parts_on_dsp_after_graph(call), *entry.parts_after_dsp(call, dsp_us / _US))
        )

    def _split(self, parts: Sequence[EntryPart]) -> tuple[float, float]:
        clock_hz = self._clock_hz
        conversion = _us((p for p in parts if p.name.endswith("conversion")), clock_hz)
        return conversion, _us(parts, clock_hz) - conversion

    def _call_us(self, subnets: Sequence[tuple[range, Engine]]) -> float:
        if not subnets:
            return 0.0
        prices = [self.subnet(engine, span) for span, engine in subnets]
        dsp_us = sum(price.us for price in prices)
        if all(engine == "hvx" for _, engine in subnets):
            dsp_us -= sum(price.dispatch_us for price in prices)
        layers = range(subnets[0][0].start, subnets[-1][0].stop)
        return sum(self.enter_us(layers)) + dsp_us + sum(self.leave_us(layers, dsp_us))

    def _call(self, span: range) -> Call:
        platform = self.times.platform
        stack, profile = platform.stack, platform.stack.profile(self.times.perf_profile)
        joined = JoinedSubnets.of(self.times.network, (self.times.subnet(span),))
        return Call(joined, platform.chip, stack, profile, stack.buffer(), 0.0)

    def _application_us(self, inputs: Sequence[str], outputs: Sequence[str]) -> float:
        """Return the time to change the layout of the application's inputs and outputs."""
        times, network = self.times, self.times.network
        own = {*network.inputs, *network.outputs}
        return sum(times.at_edge(name) for name in (*inputs, *outputs) if name in own)

    def _further_rows_us(self, span: range) -> float:
        """Return the time of rows that are executions of their own."""
        platform = self.times.platform
        profile = platform.stack.profile(self.times.perf_profile)
        calls = self.times.subnet(span).calls
        return further_rows_s(calls, platform.chip, platform.stack, profile) * _US

    def _mapping_us(self, inputs: Sequence[str], outputs: Sequence[str]) -> float:
        """Return the time to map the large tensors at the edges of an HTA subnet."""
        stack = self.times.platform.stack
        sizes = map(self.times.bytes, (*inputs, *outputs))
        mapped = sum(size >= stack.entry.mapped_from_bytes for size in sizes)
        return mapped * stack.partitioning.hta_tensor_s * _US

    def _ddr_us(self, span: range, outputs: Sequence[str]) -> float:
        """Return the time to store and load tensors that stay on chip in the maximal section."""
        network, why = self.times.network, self.times.refusals
        rate = self.times.hta_bytes_per_s
        layers = network.layers
        size = 0
        if span.stop < len(why) and why[span.stop] is None:
            size += sum(map(self.times.bytes, outputs))
        if span.start and why[span.start - 1] is None:
            inputs, _ = network.boundary(layers[span.start : span.stop])
            size += sum(map(self.times.bytes, inputs))
        return size / rate * _US

    @cached_property
    def _copies_us(self) -> float:
        stack, network = self.times.platform.stack, self.times.network
        if stack.buffer() != "float":
            return 0.0
        names = (*network.inputs, *network.outputs)
        elements = sum(math.prod(network.shape(name)) for name in names)
        return elements * stack.application.copy_s_per_element * _US

    @cached_property
    def _clock_hz(self) -> float:
        platform = self.times.platform
        profile = platform.stack.profile(self.times.perf_profile)
        return profile.dsp_clock_hz(platform.chip.dsp)

    @cached_property
    def _flat(self) -> frozenset[str]:
        """Images that HVX takes flat."""
        return flat_tensors(self.times.subnet(range(len(self.times.network.layers))))

    @cached_property
    def _hvx_prefix(self) -> list[float]:
        return _sums(self.times.on_hvx)

    @cached_property
    def _hta_prefix(self) -> list[float]:
        return _sums(self.times.on_hta)


def placed(subnets: Iterable[Subnet]) -> list[tuple[Engine, range]]:
    """Return engine and layer indices of each subnet."""
    placements, start = [], 0
    for subnet in subnets:
        placements.append((subnet.engine, range(start, start + len(subnet.layers))))
        start += len(subnet.layers)
    return placements


def _sums(times: Iterable[float]) -> list[float]:
    sums = [0.0]
    for time in times:
        sums.append(sums[-1] + time)
    return sums


def _us(parts: Iterable[EntryPart], clock_hz: float) -> float:
    return sum(part.seconds + part.clocks / clock_hz for part in parts) * _US
