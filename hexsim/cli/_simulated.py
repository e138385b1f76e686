"""Options for hardware, circumstances and workers, shared by the commands that simulate time."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hexsim.cli._options import (
    AUTO,
    RUNTIME_OR_AUTO,
    AnchorOption,
    BackgroundOption,
    BufferOption,
    ChipOption,
    FallbackOption,
    HtaOption,
    InputDimsOption,
    OverrideParamsOption,
    ProfileOption,
    QuantizeOption,
    StackOption,
    VtcmOption,
)
from hexsim.cli._signature import Keywords
from hexsim.records import dataclass
from hexsim.runtimes import DEFAULT_CHIP, RUNTIMES, RuntimeChoice

if TYPE_CHECKING:
    from hexsim.deployment.platform import Platform


@dataclass(frozen=True)
class Software(Keywords):
    """The software of a chip, and changes to both."""

    HEADING = "Chip and software"

    stack: StackOption = None
    ideal_cpu: Annotated[
        bool, "CPU runtimes reach the speed of the cores, not that of the software release."
    ] = False
    anchor: AnchorOption = None
    vtcm_mb: VtcmOption = None


@dataclass(frozen=True)
class OnChip(Keywords):
    """A chip."""

    HEADING = "Chip and software"

    chip: ChipOption = DEFAULT_CHIP


@dataclass(frozen=True)
class Hardware(Software, OnChip):
    """A chip and its software."""

    def platform(self, graphs: int = 1) -> Platform:
        """Read the descriptions; `graphs` run at a time on a tensor processor."""
        from hexsim.studies.conditions import platforms_of

        (platform,) = platforms_of(self.chip, self.keywords(), graphs)
        return platform


@dataclass(frozen=True)
class RuntimeOnChip(Hardware):
    """A chip, its software, and a runtime."""

    runtime: Annotated[
        RuntimeChoice, RUNTIME_OR_AUTO, f"One of {', '.join(RUNTIMES)}, or {AUTO}."
    ] = "auto"


@dataclass(frozen=True)
class Power(Keywords):
    """The behaviour of the chip between calls."""

    HEADING = "Calls"

    idle_ms: Annotated[float, typer.Option(min=0.0, help="Idle time before the call, in ms.")] = 0.0
    power_collapse: Annotated[
        bool,
        typer.Option(
            " /--no-power-collapse", help="DSP and HTA stay awake, however long they idle."
        ),
    ] = True


@dataclass(frozen=True)
class Calling(Keywords):
    """The settings of an application's call, other clients of the DSP, and how a model is read."""

    HEADING = "Calls"

    perf_profile: ProfileOption = None
    background: BackgroundOption = ()
    buffer: BufferOption = None
    cpu_fallback: FallbackOption = True
    quantize: QuantizeOption = True
    override_params: OverrideParamsOption = None
    hta: HtaOption = True


@dataclass(frozen=True)
class Shapes(Keywords):
    """The shapes of inputs."""

    input_dims: InputDimsOption = None


@dataclass(frozen=True)
class Circumstances(Shapes, Calling, Power):
    """All about calls, and the shapes of inputs."""


@dataclass(frozen=True)
class Workers(Keywords):
    """Processes of this machine, or a cluster of the user."""

    HEADING = "Workers"

    scheduler: Annotated[
        str | None,
        "Address of a running dask scheduler: tcp://host:8786. Whoever reaches that "
        "scheduler runs code as you; protect it with TLS, by dask's own configuration.",
    ] = None
    workers: Annotated[
        int | None, typer.Option(min=1, help="Processes of this machine; default: one per core.")
    ] = None


@dataclass(frozen=True)
class SharedOut(Workers):
    """The same for a command that otherwise does its work itself."""

    distributed: Annotated[bool, "Distribute the inputs to workers (--workers, --scheduler)."] = (
        False
    )

    def keywords(self) -> dict[str, Any]:
        """Return workers and scheduler: all cores, unless either is given."""
        asked = {"workers": self.workers, "scheduler": self.scheduler}
        if self.distributed and set(asked.values()) == {None}:
            asked["workers"] = os.cpu_count() or 1
        return asked
