"""Deployment: a model on a runtime of a platform, the single place that decides how it runs.

It decides which model the runtime computes with, where the network is cut, which kernel calls
follow, how they are executed and how they are timed. The API, all commands and all studies use it,
so that they cannot differ.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Unpack

from hexsim.datasheets.chips import SignedKernels
from hexsim.datasheets.stacks import BufferType, PartitionRules, Stack
from hexsim.deployment.at_load import AtLoad, Calibration
from hexsim.deployment.fallbacks import explained
from hexsim.deployment.platform import Platform
from hexsim.errors import HexsimError
from hexsim.execution.arithmetic import Arithmetic
from hexsim.graph.ir import Layer, Network
from hexsim.memory import footprint_of, require_addressable
from hexsim.passes.functions import unfuse_functions
from hexsim.planning.kernel_forms import signed_layers_of
from hexsim.planning.load_rules import LoadRule
from hexsim.planning.placement import cpu_reason
from hexsim.planning.plan import Plan, Subnet
from hexsim.planning.planner import make_plan, partition
from hexsim.quantization.encodings import Encoding
from hexsim.quantization.evidence import Loss
from hexsim.quantization.model import GraphRecord, Model
from hexsim.quantization.overrides import KeyOutcome
from hexsim.records import dataclass, replace
from hexsim.results.costs import Footprint
from hexsim.runtimes import FIXED_POINT, MAIN_ENGINE, Runtime
from hexsim.simulation.simulator import CallPattern, Workload
from hexsim.timing.results import Result

if TYPE_CHECKING:
    from hexsim.execution.plan_executor import PlanExecutor


def as_run_by(stack: Stack, model: Model) -> Model:
    """Return the model with the functions written out that the release does not fuse.

    In a quantised model a new tensor, the output of a sigmoid, has the range 0 to 1 and the bits of
    the function's result. Layers that were compiled for a tensor engine stay as they are.
    """
    compiled = frozenset(name for section in model.hta for name in section.layers)
    network = unfuse_functions(model.network, stack.fusions.functions, compiled)
    if network is model.network:
        return model
    activations, floats = dict(model.activations), dict(model.floats)
    for name in network.tensors.keys() - model.network.tensors.keys():
        (product,) = network.consumers[name]
        if (encoding := model.activations.get(product.output)) is not None:
            activations[name] = Encoding.from_range(0.0, 1.0, encoding.bitwidth)
        elif product.output in model.floats:
            floats[name] = model.floats[product.output]
    return replace(model, network=network, activations=activations, floats=floats)


Sections = Sequence[Collection[str]]
"""HTA sections, the names of the layers of each."""


@dataclass(frozen=True)
class Deployment:
    """A model, as its file holds it, on a runtime of a platform; `deploy` makes one.

    A float model on a runtime that quantises at load is quantised by `at_load`, when values are
    first needed; until then no weight is read. `cut` replaces the partitioner's cut. `from_floats`
    says that `model` is a float file quantised at load.

    A deployment created without `deploy` is not checked, which is meant for what-if questions: a
    float network is planned as the default quantiser would leave it.
    """

    model: Model
    platform: Platform
    runtime: Runtime
    cpu_fallback: bool = True
    at_load: AtLoad | None = None
    cut: tuple[Subnet, ...] | None = None
    from_floats: bool = False

    def __post_init__(self) -> None:
        """Write out the functions that the release does not fuse, unless the cut is given.

        At load a float model is quantised as its file has it, with the encodings that this holds.
        """
        if self.at_load is None and not self.model.quantized:
            network, own = self.model.network, self.model.own_overrides
            at_load = AtLoad(network, self.platform, overrides=own, required=False)
            object.__setattr__(self, "at_load", at_load)
        if self.cut is None:
            object.__setattr__(self, "model", as_run_by(self.platform.stack, self.model))

    def check(self) -> None:
        """Raise HexsimError unless chip, stack and runtime take the model; see `deploy`."""
        self.platform.require(self.model, self.runtime)
        if self._rule.effect == "refuse" and not self.quantizes:
            raise HexsimError(
                f"network '{self.model.name}' is float{self._at_load.missing} and {self.runtime} "
                f"of {self.platform.stack.name} refuses it: {self._rule.sentence}; quantise it "
                "first (hexsim quantize)"
            )
        if self.at_load and self.at_load.required and self.at_load.overrides and not self.quantizes:
            state = "quantised already" if self.model.quantized else "not quantised at load"
            raise HexsimError(
                "overrides are applied when a network is quantised, and "
                f"'{self.model.name}' is {state} on {self.runtime} of {self.platform.stack.name}; "
                "leave them out, or quantise it with them first"
            )
        if self._applies_overrides:
            self.platform.require(self._at_load.without_inputs, self.runtime)
        if not self._applies_overrides or self._coded:
            _ = self.subnets  # the partitioner refuses what must not fall back
            if MAIN_ENGINE[self.runtime] == "htp":
                require_addressable(self.memory(), self.model.name)

    @property
    def network(self) -> Network:
        """The network as it is planned: overrides at load may add convert layers."""
        return self.planned.network

    @property
    def quantizes(self) -> bool:
        """True if the model is float and the runtime computes in its codes (quantised values).

        Either the runtime quantises when it loads a file, or the file has all encodings.
        """
        return not self.model.quantized and (self._rule.effect == "quantise" or self._coded)

    @property
    def calibrates(self) -> bool:
        """True if the model is quantised at load, and inputs decide ranges."""
        return self.quantizes and self._at_load.needs_inputs

    @property
    def _from_floats(self) -> bool:
        """True if the runtime loads floats and quantises them; else a coded file is so before."""
        return self.quantizes and self._rule.effect == "quantise"

    @property
    def _rule(self) -> LoadRule:
        return self.platform.load_rule(self.runtime, quantized=self.model.quantized)

    @property
    def _coded(self) -> bool:
        """True for a float model whose encodings make it a quantised one on this runtime."""
        in_codes = not self.model.quantized and self.runtime in FIXED_POINT
        return in_codes and self._at_load.coded

    @property
    def uncalibrated(self) -> tuple[str, ...]:
        """The tensors whose ranges inputs decide, if the file gives those of others."""
        return self._at_load.uncalibrated if self.calibrates and self._at_load.overrides else ()

    @cached_property
    def loaded(self) -> Model:
        """The model as the runtime computes with it."""
        if not self.quantizes:
            return self.model
        return as_run_by(self.platform.stack, self._at_load.model)

    @property
    def findings(self) -> tuple[Loss, ...]:
        """The certain losses of the encodings with which the runtime computes; none in floats."""
        return self.loaded.findings if self.runtime in FIXED_POINT else ()

    @property
    def overrides(self) -> tuple[KeyOutcome, ...]:
        """The outcome of each override that was given for quantising at load."""
        return self.loaded.overrides if self._applies_overrides else ()

    @cached_property
    def subnets(self) -> tuple[Subnet, ...]:
        """Where the network is cut, and why.

        HTA sections count if they were compiled for this chip; without any, aip runs on HVX.
        """
        if self.cut is not None:
            return self.cut
        sections = [s.layers for s in self.model.hta if s.chip == self.platform.chip.name]
        return self._partitioned(sections, self.platform.stack.partitioning.rules)

    @cached_property
    def plan(self) -> Plan:
        """The kernel calls of one inference.

        Overrides may change bit widths, so with overrides a float model is planned as loaded.
        """
        plan = make_plan(self.planned, self.runtime, self.subnets)
        if self.from_floats or (self.planned is not self.model and self._from_floats):
            return plan.of_float_file()
        record = self._graph(plan)
        return plan if record is None else replace(plan, binary_bytes=record.binary_bytes)

    def _graph(self, plan: Plan) -> GraphRecord | None:
        """Return the prepared graph of the file that this platform loads, if there is one."""
        chip, stack, layers = self.platform.chip, self.platform.stack, plan.layers_on("htp")
        for graph in self.model.graphs if layers and not self.quantizes else ():
            asked = (chip.name, stack.name, self.runtime, chip.htp.vtcm_bytes, layers)
            if asked == (graph.chip, graph.stack, graph.runtime, graph.vtcm_bytes, graph.layers):
                return graph
        return None

    @property
    def bits(self) -> tuple[int, ...]:
        """The widths of activations in codes; before a model is quantised, those by default."""
        widths = {encoding.bitwidth for encoding in self.planned.activations.values()}
        return tuple(sorted(widths)) or (8,)

    @property
    def graph_note(self) -> str | None:
        """What initialisation does with the prepared graphs of the file; None without any."""
        if not self.model.graphs or MAIN_ENGINE[self.runtime] != "htp":
            return None
        graphs = ", ".join(f"{graph}" for graph in self.model.graphs)
        if self.plan.binary_bytes is not None:
            return f"initialisation loads the graph that is prepared in the file ({graphs})"
        return (
            f"the file has graphs for {graphs}, not for this platform, so initialisation prepares "
            "the graph"
        )

    @property
    def on_hta(self) -> frozenset[str]:
        """Names of the layers that the tensor engine computes."""
        on_hta = (subnet for subnet in self.subnets if subnet.engine == "hta")
        return frozenset(layer.name for subnet in on_hta for layer in subnet.layers)

    @property
    def signed_kernels(self) -> SignedKernels | None:
        """The runtime's kernels that multiply by signed weights; None if there are none."""
        return self.platform.chip.signed_kernels(self.runtime)

    @property
    def signed_layers(self) -> frozenset[str]:
        """Names of the layers that multiply by signed weights."""
        return signed_layers_of(self.plan, self.signed_kernels)

    @property
    def arithmetic(self) -> Arithmetic:
        """The arithmetic of the executor; runtimes with equal arithmetic give equal values."""
        return Arithmetic.of(self.plan, self.loaded, signed_kernels=self.signed_kernels)

    def run_on(self, inputs: Calibration) -> Deployment:
        """Return the deployment to run on `inputs`, which calibrate what is quantised at load."""
        return replace(self, at_load=self._at_load.run_on(inputs)) if self.calibrates else self

    def executor(self, threads: int = 0) -> PlanExecutor:
        """Return an executor of the plan; `threads` share a layer's work, 0 for one per core."""
        # Kernels are compiled code; who asks for times alone does not load them.
        from hexsim.execution.plan_executor import PlanExecutor

        kernels = self.signed_kernels
        return PlanExecutor(self.plan, self.loaded, signed_kernels=kernels, threads=threads)

    def workload(self, **calling: Unpack[CallPattern]) -> Workload:
        """Return one inference, called as `calling` says, for the simulator."""
        return Workload.single(self.plan, **calling)

    def simulate(self, **calling: Unpack[CallPattern]) -> Result:
        """Simulate one inference, called as `calling` says."""
        return self.explained(self.platform.simulate(self.workload(**calling)))

    def explained(self, result: Result) -> Result:
        """Return a result of this deployment that says why layers run on the CPU."""
        of_cpu = self.runtime in ("cpu", "fxp_cpu")
        return result if of_cpu else explained(result, self.subnets, self.cpu_reason)

    def memory(self, buffer: BufferType | None = None) -> Footprint:
        """Return the memory of one inference with buffers of this type; None: the stack's own."""
        chip, stack = self.platform.chip, self.platform.stack
        return footprint_of(self.plan, chip, stack, stack.buffer(buffer))

    def on(self, platform: Platform) -> Deployment:
        """Return the same model and cut on another platform, such as one with other constants."""
        return replace(self, platform=platform)

    def over(self, network: Network) -> Deployment:
        """Deploy a part of the network, or one with other outputs, with the same cut.

        `network` has some of the layers of this one. A model that is quantised at load is quantised
        as a whole before.
        """
        layers = {layer.name: layer for layer in network.layers}
        parts = (
            replace(
                cut,
                layers=tuple(layers[layer.name] for layer in cut.layers if layer.name in layers),
            )
            for cut in self.subnets
        )
        same = (network.outputs, network.layers) == (self.network.outputs, self.network.layers)
        graphs = self.loaded.graphs if same else ()
        return replace(
            self,
            model=replace(self.loaded, network=self._as_loaded(network), graphs=graphs),
            at_load=None,
            cut=tuple(part for part in parts if part.layers),
            from_floats=self.from_floats or self._from_floats,
        )

    def observing(self, names: Sequence[str]) -> Deployment:
        """Return the deployment with the same cut and tensors `names` as outputs."""
        return self.over(replace(self.network, outputs=tuple(names)))

    def _as_loaded(self, network: Network) -> Network:
        """Return a part of this network with the constants that the runtime loaded."""
        loaded_constants = self.loaded.network.constants
        constants = {
            name: loaded_constants.get(name, constant)
            for name, constant in network.constants.items()
        }
        return replace(network, constants=constants) if self.quantizes else network

    def with_sections(self, sections: Sections, rules: PartitionRules | None = None) -> Deployment:
        """Return the deployment with other HTA sections than those compiled into the model.

        `rules` None means the stack's; with "1.25+" each layer is checked by itself.
        """
        rules = rules or self.platform.stack.partitioning.rules
        return replace(self, cut=self._partitioned(sections, rules))

    def with_cut(self, cut: Sequence[Subnet], model: Model | None = None) -> Deployment:
        """Return the deployment with another cut, perhaps of another model, not to be quantised."""
        return replace(self, model=model or self.model, cut=tuple(cut))

    def cpu_reason(self, layer: Layer) -> str:
        """Return why the runtime leaves a layer to the CPU, "" if it takes it."""
        return cpu_reason(self.planned, layer, self.runtime, self.platform.operators)

    def _partitioned(self, sections: Sections, rules: PartitionRules) -> tuple[Subnet, ...]:
        subnets = partition(
            self.planned,
            self.runtime,
            sections=sections,
            rules=rules,
            operators=self.platform.operators,
            cpu_fallback=self.cpu_fallback,
        )
        return tuple(subnets)

    @property
    def planned(self) -> Model:
        """The model whose layers are placed and planned."""
        return self.loaded if self._applies_overrides else self.model

    @property
    def _applies_overrides(self) -> bool:
        return self.quantizes and bool(self._at_load.overrides)

    @property
    def _at_load(self) -> AtLoad:
        assert self.at_load is not None, "the model is float"
        return self.at_load


def deploy(
    model: Model,
    platform: Platform,
    runtime: Runtime,
    *,
    cpu_fallback: bool = True,
    at_load: AtLoad | None = None,
) -> Deployment:
    """Put a model on a runtime of a platform.

    Where the runtime quantises at load, `at_load` None applies the encodings of the file. A model
    that is calibrated then has no values before `run_on` names inputs.
    Raises HexsimError if chip or stack lack the runtime, if the runtime refuses the model because
    it is float (planning.load_rules), for bit widths it does not compute with, for overrides that
    nothing would apply, and, unless `cpu_fallback`, for a layer that the runtime refuses. With
    overrides the last is known only once the model is quantised, so `Deployment.plan` raises it.
    """
    deployment = Deployment(model, platform, runtime, cpu_fallback, at_load)
    deployment.check()
    return deployment
