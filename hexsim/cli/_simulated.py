"""Options for hardware and circumstances, shared by the commands that simulate time."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hexsim.cli._files import CHIPS, separated
from hexsim.cli._options import (
    AnchorOption,
    BackgroundOption,
    BufferOption,
    ChipOption,
    IdealCpuOption,
    IdleOption,
    NoFallbackOption,
    NoHtaOption,
    NoPowerCollapseOption,
    OverrideParamsOption,
    ProfileOption,
    QuantizeOption,
    StackOption,
    VtcmOption,
    chip_names,
    parse_runtime,
    runtime_names,
)
from hexsim.errors import HexsimError
from hexsim.runtimes import RUNTIMES, Runtime

if TYPE_CHECKING:
    from hexsim.deployment.given import GivenModel, Preparation
    from hexsim.deployment.platform import Platform
    from hexsim.studies.benchmark import BenchmarkConditions
    from hexsim.studies.conditions import CallSettings


@dataclass(frozen=True)
class Hardware:
    """A chip and its software."""

    HEADING = "Chip and software"

    chip: ChipOption = "sd835"
    stack: StackOption = None
    ideal_cpu: IdealCpuOption = False
    anchor: AnchorOption = None
    vtcm: VtcmOption = None

    def platform(self, graphs: int = 1) -> Platform:
        """Read their descriptions; `graphs` run at a time on a tensor processor."""
        (platform,) = self._platforms([self.chip], graphs)
        return platform

    def _platforms(self, chips: Sequence[str], graphs: int) -> list[Platform]:
        from hexsim.deployment.platform import Platform

        platforms = [Platform.load(chip, self.stack) for chip in chips]
        if self.ideal_cpu:
            platforms = [platform.with_ideal_cpu() for platform in platforms]
        if self.anchor is not None:
            from hexsim.deployment.calibrated import anchored

            platforms = anchored(platforms, self.anchor)
        return [platform.with_vtcm(self.vtcm, graphs) for platform in platforms]


@dataclass(frozen=True)
class SeveralChips(Hardware):
    """One or more chips, and their software."""

    chip: Annotated[
        str,
        typer.Option(
            "--chip",
            help="Names or TOML files of chips, comma separated.",
            autocompletion=chip_names,
        ),
        CHIPS,
    ] = "sd835"

    def platforms(self, option: str = "--chip") -> list[Platform]:
        """Read their descriptions; raise HexsimError if two chips have the same name."""
        platforms = self._platforms(separated(self.chip), 1)
        if not platforms:
            raise HexsimError(f"{option} names no chip; give one or more, as sd855,sd865")
        if len({platform.chip.name for platform in platforms}) < len(platforms):
            raise HexsimError(f"{option} names two chips of one name; give each a name of its own")
        return platforms


@dataclass(frozen=True)
class RuntimeOnChip(Hardware):
    """A chip, its software, and a runtime."""

    runtime: Annotated[
        str,
        typer.Option(
            "--runtime", help=f"One of {', '.join(RUNTIMES)}.", autocompletion=runtime_names
        ),
    ] = "dsp"

    def parsed_runtime(self) -> Runtime:
        """Read the name of the runtime."""
        return parse_runtime(self.runtime)


@dataclass(frozen=True)
class Power:
    """The behaviour of the chip between calls."""

    HEADING = "Calls"

    idle_ms: IdleOption = 0.0
    no_power_collapse: NoPowerCollapseOption = False

    def of(self, platform: Platform) -> Platform:
        """Return the platform with this option set."""
        return platform.without_power_collapse() if self.no_power_collapse else platform


@dataclass(frozen=True)
class CallOptions:
    """The settings of an application's call, and other clients of the DSP."""

    HEADING = "Calls"

    perf_profile: ProfileOption = None
    background: BackgroundOption = None
    buffer: BufferOption = None
    no_cpu_fallback: NoFallbackOption = False
    quantize: QuantizeOption = False
    override_params: OverrideParamsOption = None
    no_hta: NoHtaOption = False

    def settings(self, idle_ms: float = 0.0) -> CallSettings:
        """Return these options by the names of the API."""
        return {
            "perf_profile": self.perf_profile,
            "idle_ms": idle_ms,
            "buffer": self.buffer,
            "background": self.background or (),
            "quantize": self.quantize,
            "override_params": self.override_params,
            "hta": not self.no_hta,
            "cpu_fallback": not self.no_cpu_fallback,
        }

    def conditions(self, platform: Platform, power: Power, **others: Any) -> BenchmarkConditions:
        """Return the conditions of a benchmark; `others` are its fields that are not here."""
        from hexsim.studies.conditions import conditions_of

        dims = others.pop("input_dims", {})
        how: CallSettings = {**self.settings(power.idle_ms), "input_dims": dims}
        return conditions_of(platform, how, **others)

    def given(
        self,
        source: str,
        platform: Platform,
        input_dims: Mapping[str, Sequence[int]],
        progress: Callable[[str], None],
    ) -> GivenModel:
        """Read a model, to be prepared as these options say."""
        from hexsim.deployment.given import GivenModel
        from hexsim.dlc.loading import load_container

        read = load_container(source, input_dims=input_dims)
        return GivenModel(source, read, platform, self.preparation(), progress)

    def preparation(self) -> Preparation:
        """Return how a model may be prepared."""
        from hexsim.studies.conditions import preparation_of

        return preparation_of(self.settings())


@dataclass(frozen=True)
class Comparing(CallOptions):
    """The same to compare runtimes; float models are quantised by default where necessary."""

    quantize: Annotated[
        bool,
        typer.Option(
            "--quantize/--no-quantize",
            help="Quantise float models for runtimes that refuse them, or leave those out.",
        ),
    ] = True
