"""A platform: a chip with a software stack, and what can be asked of the pair."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from hexsim.errors import HexsimError
from hexsim.graph.ir import FloatArray, Network
from hexsim.hta.offline import Order, compile_all
from hexsim.planning.load_rules import LoadRule, load_rule
from hexsim.planning.partition import partition
from hexsim.planning.plan import Plan, make_plan
from hexsim.planning.widths import require_widths
from hexsim.platforms import chips, stacks
from hexsim.platforms.background import Background
from hexsim.platforms.chips.chip import Chip
from hexsim.platforms.stacks.stack import BufferType, Stack
from hexsim.quantization.options import QuantizationOptions
from hexsim.quantization.overrides import NO_OVERRIDES, Overrides
from hexsim.quantization.quantized import QuantizedNetwork
from hexsim.runtimes import Runtime
from hexsim.timing.results import Result


@dataclass(frozen=True)
class Platform:
    """One chip and one stack."""

    chip: Chip
    stack: Stack

    @classmethod
    def load(cls, chip: str | Path = "sd835", stack: str | Path | None = None) -> Platform:
        """Load both by name or TOML file; `stack` None takes the chip's default."""
        loaded = chips.load(chip)
        return cls(loaded, stacks.load(stack or loaded.default_stack))

    def without_power_collapse(self) -> Platform:
        """The same, with DSP and tensor engine awake at every call, however long after the last."""
        return replace(self, stack=self.stack.without_power_collapse())

    @property
    def runtimes(self) -> tuple[Runtime, ...]:
        """The runtimes that can be simulated: the stack has them, the chip states their data.

        Raises HexsimError if there is none.
        """
        both = [runtime for runtime in self.chip.runtimes if runtime in self.stack.runtimes]
        known = tuple(runtime for runtime in both if self.chip.simulates(runtime))
        if not known:
            self.chip.require("cpu")
        return known

    def require(self, model: Network | QuantizedNetwork, runtime: Runtime) -> None:
        """Raise HexsimError if chip or stack lack the runtime, or the bit widths of `model`."""
        self.chip.require(runtime)
        self.stack.require(runtime)
        if isinstance(model, QuantizedNetwork):
            require_widths(model, runtime, self.chip, self.stack)

    def load_rule(self, runtime: Runtime, *, quantized: bool) -> LoadRule:
        """What the runtime does with a quantised or a float file."""
        return load_rule(runtime, self.stack, quantized=quantized)

    def plan(
        self, model: Network | QuantizedNetwork, runtime: Runtime, *, cpu_fallback: bool = True
    ) -> Plan:
        """Cut `model` for `runtime` and list its kernel calls.

        HTA sections count that were compiled for this chip; without any, aip runs on HVX.
        Raises HexsimError if chip or stack lack the runtime, if the runtime refuses the model
        because it is float (planning.load_rules), or for bit widths it does not compute with.
        """
        self.require(model, runtime)
        quantized = isinstance(model, QuantizedNetwork)
        network = model.network if isinstance(model, QuantizedNetwork) else model
        rule = self.load_rule(runtime, quantized=quantized)
        if rule.effect == "refuse":
            raise HexsimError(
                f"network '{network.name}' is float and {runtime} of {self.stack.name} refuses it: "
                f"{rule.sentence}; quantise it first (hexsim quantize; bench, profile, roofline "
                "and throughput do with --quantize)"
            )
        cuts = partition(
            model,
            runtime,
            sections=self._sections(model),
            rules=self.stack.partitioning.rules,
            cpu_fallback=cpu_fallback,
        )
        return make_plan(model, runtime, cuts)

    def on_hta(self, model: Network | QuantizedNetwork, runtime: Runtime) -> frozenset[str]:
        """Names of the layers that the tensor engine computes if `runtime` runs `model`."""
        sections = self._sections(model) if runtime == "aip" else ()
        return frozenset(name for names in sections for name in names)

    def _sections(self, model: Network | QuantizedNetwork) -> tuple[tuple[str, ...], ...]:
        """The HTA sections of `model` that were compiled for this chip."""
        compiled = model.hta if isinstance(model, QuantizedNetwork) else ()
        return tuple(s.layers for s in compiled if s.chip == self.chip.name)

    def simulate(
        self,
        plan: Plan,
        *,
        perf_profile: str | None = None,
        idle_ms: float = 0.0,
        buffer: BufferType | None = None,
        background: tuple[Background, ...] = (),
        recorded: bool = False,
    ) -> Result:
        """Simulate one inference of `plan`, `idle_ms` after the phone went idle.

        `recorded` as in `hexsim.simulation.simulator.Workload`.
        """
        from hexsim.simulation.simulator import (  # who asks for values needs no clock
            Workload,
            simulate,
        )

        workload = Workload.single(
            plan,
            perf_profile=perf_profile,
            idle_ms=idle_ms,
            buffer=buffer,
            background=background,
            recorded=recorded,
        )
        return simulate(workload, self.chip, self.stack)

    def quantize(
        self,
        network: Network,
        inputs: Iterable[Mapping[str, FloatArray]],
        overrides: Overrides = NO_OVERRIDES,
        progress: Callable[[int], None] = lambda done: None,
    ) -> QuantizedNetwork:
        """Quantise as the stack does at load; arguments and errors as in the quantiser."""
        from hexsim.quantization.quantizer import quantize

        return quantize(network, inputs, self.quantization_options, progress, overrides)

    def prepared(
        self, model: QuantizedNetwork, runtime: Runtime, *, hta: bool = True
    ) -> QuantizedNetwork:
        """What was quantised here as `runtime` loads it: for aip with all sections that compile.

        Without `hta` there are none.
        """
        if runtime != "aip" or not hta:
            return model
        compiled, _ = compile_all(model, [Order(self.chip, self.stack)])
        return compiled

    @property
    def quantization_options(self) -> QuantizationOptions:
        """How the stack quantises a float network at load, if nobody chooses otherwise."""
        return QuantizationOptions(minimum_range=self.stack.quantization.min_range)

    def signed_weights(self, runtime: Runtime) -> bool:
        """True if the runtime's kernels on HVX take signed weights (V65 and later)."""
        return runtime in ("dsp", "aip") and self.chip.dsp.arch in ("v65", "v66")
