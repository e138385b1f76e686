"""A platform: a chip with a software stack, and all that depends only on the pair."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import get_args

from hexsim.datasheets import chips, stacks
from hexsim.datasheets.chips import Chip, Corner
from hexsim.datasheets.operators import Operators
from hexsim.datasheets.quantity import Estimate
from hexsim.datasheets.stacks import Stack
from hexsim.deployment.calibration import CalibrationPoint, CalibrationProfile
from hexsim.energy import Energy, average_power_w, inference_energy
from hexsim.errors import HexsimError, spelled
from hexsim.graph.ir import FloatArray, Network
from hexsim.planning.load_rules import LoadRule, load_rule, require_widths
from hexsim.quantization.model import Model
from hexsim.quantization.options import QuantizationOptions
from hexsim.quantization.overrides import NO_OVERRIDES, Overrides
from hexsim.records import dataclass, replace
from hexsim.runtimes import Runtime
from hexsim.simulation.simulator import Workload, simulate
from hexsim.timing.results import Result

Anchor = CalibrationPoint | CalibrationProfile
"""What was measured on a phone, to which a platform is calibrated."""


@dataclass(frozen=True)
class Platform:
    """One chip and one stack; `ideal_cpu` says that its CPU runtimes were changed.

    `anchor` is the latency to which the tensor processor, or the profile to which classes of layers
    are calibrated, if any, `vtcm_mb` the VTCM that a graph may use, if not all, and `graphs` how
    many run at a time.
    """

    chip: Chip
    stack: Stack
    ideal_cpu: bool = False
    anchor: Anchor | None = None
    vtcm_mb: float | None = None
    graphs: int = 1

    @classmethod
    def load(cls, chip: str | Path, stack: str | Path | None = None) -> Platform:
        """Load both by name or TOML file; `stack` None takes the chip's default."""
        loaded = chips.load(chip)
        return cls(loaded, stacks.load(stack or loaded.default_stack))

    def without_power_collapse(self) -> Platform:
        """Return the platform with DSP and tensor engine awake at every call."""
        return replace(self, stack=self.stack.without_power_collapse())

    def with_ideal_cpu(self) -> Platform:
        """Return the platform with CPU runtimes as fast as the cores allow."""
        return replace(self, stack=self.stack.with_ideal_cpu(), ideal_cpu=True)

    def at_pace(self, slower: float, anchor: CalibrationPoint) -> Platform:
        """Return the platform with tensor processor and DDR that take `slower` times as long."""
        chip = self.chip.at_pace(slower, f"anchor {anchor}", anchor.error)
        return replace(self, chip=chip, anchor=anchor)

    def with_layer_factors(self, profile: CalibrationProfile) -> Platform:
        """Return the platform with the factors of `profile` for classes of layers."""
        chip, source = self.chip, f"anchor {profile}"
        for runtime in dict.fromkeys(factor.runtime for factor in profile.classes):
            of_runtime = (factor for factor in profile.classes if factor.runtime == runtime)
            stated = {factor.layer_class: factor.quantity(source) for factor in of_runtime}
            chip = chip.with_layer_factors(runtime, stated)
        return replace(self, chip=chip, anchor=profile)

    @property
    def has_own_pace(self) -> bool:
        """Whether its clock and bandwidth are calibrated to one latency."""
        return isinstance(self.anchor, CalibrationPoint)

    def with_vtcm(self, megabytes: float | None, graphs: int = 1) -> Platform:
        """Return the platform with `graphs` at a time, each with so much VTCM.

        None and 0 megabytes mean an equal share of it. Raises HexsimError if the chip has no tensor
        processor, if it has less VTCM, or if its graphs cannot run at a time.
        """
        if graphs == 1 and not megabytes:
            return self
        if self.chip.htp_table is None:
            raise HexsimError(
                f"{self.chip.name} has no tensor processor; {spelled('vtcm_mb')} and "
                f"{spelled('parallel_graphs')} limit and divide the VTCM of one, so leave them out"
            )
        chip, share = self.chip, megabytes or self.chip.htp.vtcm_bytes / 2**20 / graphs
        return replace(self, chip=chip.with_vtcm(share, graphs), vtcm_mb=share, graphs=graphs)

    @property
    def software(self) -> str:
        """The stack as headings name it, with the changes made to it and to the chip."""
        changes = [self.anchor.description] if self.anchor else []
        changes += ["an ideal CPU"] if self.ideal_cpu else []
        changes += [f"{self.vtcm_mb:g} MB of VTCM"] if self.vtcm_mb else []
        changes += [f"{self.graphs} graphs at a time"] if self.graphs > 1 else []
        return f"{self.stack.name} with {' and '.join(changes)}" if changes else self.stack.name

    @property
    def operators(self) -> Operators:
        """The layers that the stack supports, on the tensor processor of the chip if it has one."""
        arch = self.chip.htp_table.arch if self.chip.htp_table else None
        return replace(self.stack.operators, chip=self.chip.name, arch=arch)

    @property
    def runtimes(self) -> tuple[Runtime, ...]:
        """The runtimes that can be simulated: the stack has them, the chip states their data.

        Raises HexsimError if there is none.
        """
        shared = [runtime for runtime in self.chip.runtimes if runtime in self.stack.runtimes]
        simulated = tuple(runtime for runtime in shared if self.chip.simulates(runtime))
        if not simulated:
            self.chip.require("cpu")
        return simulated

    def require(self, model: Model, runtime: Runtime) -> None:
        """Raise HexsimError if chip or stack lack the runtime, or the bit widths of `model`."""
        self.chip.require(runtime)
        self.stack.require(runtime)
        require_widths(model, runtime, self.chip, self.stack)

    def load_rule(self, runtime: Runtime, *, quantized: bool) -> LoadRule:
        """Return what the runtime does with a quantised or a float file."""
        return load_rule(runtime, self.stack, quantized=quantized)

    def simulate(self, workload: Workload) -> Result:
        """Run a workload; errors as in the simulator."""
        return simulate(replace(workload, graphs=self.graphs), self.chip, self.stack)

    def energy(self, result: Result, perf_profile: str | None = None) -> Energy:
        """Return the energy of the first inference of a result; profile None is the default."""
        return inference_energy(result.inferences[0], self.chip, self._corner([perf_profile]))

    def power(self, result: Result, perf_profiles: Iterable[str | None]) -> Estimate:
        """Return the average power in watts of a workload whose jobs have these profiles."""
        return average_power_w(result.inferences, self.chip, self._corner(perf_profiles))

    def _corner(self, perf_profiles: Iterable[str | None]) -> Corner:
        corners = [self.stack.profile(name).dsp_corner for name in perf_profiles]
        return min(corners, key=get_args(Corner).index)

    def quantize(
        self,
        network: Network,
        inputs: Iterable[Mapping[str, FloatArray]] | None,
        overrides: Overrides = NO_OVERRIDES,
        progress: Callable[[int], None] = lambda done: None,
    ) -> Model:
        """Quantise as the stack does at load; arguments and errors as in the quantiser."""
        from hexsim.quantization.quantizer import quantize

        return quantize(network, inputs, self.quantization_options, progress, overrides)

    @property
    def quantization_options(self) -> QuantizationOptions:
        """The stack's default options to quantise a float network at load."""
        return QuantizationOptions(minimum_range=self.stack.quantization.min_range)
