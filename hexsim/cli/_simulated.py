"""Options for hardware and circumstances, shared by the commands that simulate time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from hexsim.cli._files import CHIPS, separated
from hexsim.cli._options import (
    AUTO,
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
    parse_choice,
    runtime_names,
)
from hexsim.runtimes import DEFAULT_CHIP, RUNTIMES, RuntimeChoice

if TYPE_CHECKING:
    from hexsim.deployment.platform import Platform
    from hexsim.studies import conditions

    class Call(conditions.Calling, conditions.Preparing, total=False):
        """How a model is prepared and called."""


@dataclass(frozen=True)
class Hardware:
    """A chip and its software."""

    HEADING = "Chip and software"

    chip: ChipOption = DEFAULT_CHIP
    stack: StackOption = None
    ideal_cpu: IdealCpuOption = False
    anchor: AnchorOption = None
    vtcm: VtcmOption = None

    def settings(self) -> conditions.Hardware:
        """Return these options, but for the chip, by the names of the API."""
        return {
            "stack": self.stack,
            "ideal_cpu": self.ideal_cpu,
            "anchor": self.anchor,
            "vtcm_mb": self.vtcm,
        }

    def platform(self, graphs: int = 1) -> Platform:
        """Read the descriptions; `graphs` run at a time on a tensor processor."""
        from hexsim.studies.conditions import platforms_of

        (platform,) = platforms_of(self.chip, self.settings(), graphs)
        return platform


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
    ] = DEFAULT_CHIP

    @property
    def chips(self) -> list[str]:
        """The names of the chips."""
        return separated(self.chip)


@dataclass(frozen=True)
class RuntimeOnChip(Hardware):
    """A chip, its software, and a runtime."""

    runtime: Annotated[
        str,
        typer.Option(
            "--runtime",
            help=f"One of {', '.join(RUNTIMES)}, or {AUTO}.",
            autocompletion=runtime_names,
        ),
    ] = "auto"

    def parsed_runtime(self) -> RuntimeChoice:
        """Read the name of the runtime."""
        return parse_choice(self.runtime)


@dataclass(frozen=True)
class Power:
    """The behaviour of the chip between calls."""

    HEADING = "Calls"

    idle_ms: IdleOption = 0.0
    no_power_collapse: NoPowerCollapseOption = False

    def settings(self) -> conditions.Idling:
        """Return these options by the names of the API."""
        return {"idle_ms": self.idle_ms, "power_collapse": not self.no_power_collapse}


@dataclass(frozen=True)
class CallOptions:
    """The settings of an application's call, and other clients of the DSP."""

    HEADING = "Calls"

    perf_profile: ProfileOption = None
    background: BackgroundOption = None
    buffer: BufferOption = None
    no_cpu_fallback: NoFallbackOption = False
    quantize: QuantizeOption = True
    override_params: OverrideParamsOption = None
    no_hta: NoHtaOption = False

    def settings(self) -> Call:
        """Return these options by the names of the API."""
        return {
            "perf_profile": self.perf_profile,
            "buffer": self.buffer,
            "background": self.background or (),
            "quantize": self.quantize,
            "override_params": self.override_params,
            "hta": not self.no_hta,
            "cpu_fallback": not self.no_cpu_fallback,
        }
