"""The time of each layer on HVX, on the HTA and on the CPU, each engine by itself.

HVX: one simulated inference with every layer there. HTA: the compiler's own sections, run on an
idle engine; a layer outside of them is compiled alone, as if the engine accepted it. CPU: its
roofline. Changes of layout at the edges of an HVX subnet run as nodes.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

from hexsim.deployment import Deployment
from hexsim.deployment.platform import Platform
from hexsim.graph.ir import Network, Shape
from hexsim.host import cpu
from hexsim.hta.compiler import compile_subnet
from hexsim.hta.engine import LayerRun
from hexsim.hvx.kernels import Target
from hexsim.hvx.kernels.conversion import from_d32, to_d32
from hexsim.hvx.layout import stored_bytes
from hexsim.planning.plan import PlannedSubnet
from hexsim.planning.sections import Refusals, refusals, several
from hexsim.planning.subnet import Subnet
from hexsim.quantization.model import Model
from hexsim.simulation.phone import Phone
from hexsim.timing.memory import Traffic
from hexsim.timing.simtime import PS_PER_US
from hexsim.timing.work import NodeWork, Stage

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
        sections = list(several.automatic(self.network, self.refusals))
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
        return tuple(cpu.layer_cost(call, chip, stack).duration_ps / PS_PER_US for call in calls)

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
        spilled = self._spilled(tensor)
        return self._layout(to_d32, tensor, Traffic(write_bytes=spilled))

    def from_d32(self, tensor: str) -> float:
        """Return the time to bring a tensor out of the layout of HVX."""
        return self._layout(from_d32, tensor, Traffic(self._spilled(tensor)))

    def _spilled(self, tensor: str) -> int:
        stored = stored_bytes(self.network.shape(tensor)) * self.bits(tensor) // 8
        return max(0, stored - self._phone.dsp.target.l2_bytes)

    def _layout(self, change: Change, tensor: str, traffic: Traffic) -> float:
        shape, bits = self.network.shape(tensor), self.bits(tensor)
        key = (change is to_d32, shape, bits)
        if key not in self._layouts:
            stage = change(shape, self._phone.dsp.target, traffic, bits)
            self._layouts[key] = self._node(stage)
        return self._layouts[key]

    @cached_property
    def _layouts(self) -> dict[tuple[bool, Shape, int], float]:
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
