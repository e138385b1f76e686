"""What a study is done under: chips with their software, calls, and how a model is prepared.

Public functions take these settings as keywords, and commands make them of their options. Only this
module turns them into platforms and calls.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypedDict, cast

from hexsim.datasheets.background import load as load_background
from hexsim.deployment.platform import Platform
from hexsim.errors import HexsimError
from hexsim.simulation.simulator import CallPattern


class Hardware(TypedDict, total=False):
    """The software of a chip, and changes to the platform.

    `stack` is the software, by name or TOML file; None is the chip's own. `ideal_cpu` (default:
    false) lets the CPU runtimes reach the speed of the cores. `anchor`, "NETWORK=MS" as on the
    command line, sets the speed of the tensor processor from a latency measured on a phone;
    "NETWORK=FILE" scales classes of layers by a phone's profile. `vtcm_mb` is the VTCM that a graph
    on a tensor processor may use; None is all of it.
    """

    stack: str | Path | None
    ideal_cpu: bool
    anchor: str | None
    vtcm_mb: float | None


class Idling(TypedDict, total=False):
    """The phone between calls.

    `idle_ms` is its idle time before the call, and `power_collapse` (default: true) says whether
    DSP and tensor engine are switched off during it.
    """

    idle_ms: float
    power_collapse: bool


class Calling(TypedDict, total=False):
    """The settings of an application's call, and other clients of the phone.

    `perf_profile` None is the stack's default. `buffer` says whether the application passes floats
    or quantised values, which changes times but no values; None is the stack's default.
    `background` names one or more loads (or their TOML files) whose clients use the DSP meanwhile;
    their latencies are in `timing.clients`.
    """

    perf_profile: str | None
    buffer: str | None
    background: str | Path | Iterable[str | Path]


class Reading(TypedDict, total=False):
    """How a file is read.

    `override_params` applies the overrides that the file holds; None those of an ONNX file's own
    quantising nodes, False none. `hta` (default: true) compiles sections for the tensor engine into
    models that are quantised here. `input_dims` has shapes of inputs by their names.
    """

    override_params: bool | None
    hta: bool
    input_dims: Mapping[str, Sequence[int]]


class Preparing(Reading, total=False):
    """How a model is prepared for a runtime, and the fields of `Reading`.

    `quantize` (default: true) lets float models be quantised for runtimes that refuse them.
    `cpu_fallback` (default: true) lets the CPU run the layers that the runtime does not take.
    """

    quantize: bool
    cpu_fallback: bool


class Settings(Hardware, Idling, Calling, Preparing, total=False):
    """All of them; a public function takes some."""


def platforms_of(
    chips: str | Path | Sequence[str | Path], how: Mapping[str, Any], graphs: int = 1
) -> list[Platform]:
    """Return chips with their software, as the `Settings` in `how` change them.

    `graphs` run at a time on a tensor processor. Raises HexsimError if there is no chip, or if two
    have the same name.
    """
    settings = cast(Settings, how)
    named = [chips] if isinstance(chips, str | Path) else list(chips)
    platforms = [Platform.load(chip, settings.get("stack")) for chip in named]
    if not platforms:
        raise HexsimError("no chip is named; give one or more, such as sd8gen4")
    if len({platform.chip.name for platform in platforms}) < len(platforms):
        raise HexsimError("two of the chips have the same name; give each a name of its own")
    if settings.get("ideal_cpu"):
        platforms = [platform.with_ideal_cpu() for platform in platforms]
    if (anchor := settings.get("anchor")) is not None:
        from hexsim.deployment.calibrated import anchored  # which few need

        platforms = anchored(platforms, anchor)
    if not settings.get("power_collapse", True):
        platforms = [platform.without_power_collapse() for platform in platforms]
    return [platform.with_vtcm(settings.get("vtcm_mb"), graphs) for platform in platforms]


def call_of(platform: Platform, how: Mapping[str, Any]) -> CallPattern:
    """Return how the application calls; HexsimError for an unknown buffer or load."""
    settings = cast(Settings, how)
    names = settings.get("background", ())
    loads = [names] if isinstance(names, str | Path) else names
    calling = CallPattern(
        perf_profile=settings.get("perf_profile"),
        idle_ms=settings.get("idle_ms", 0.0),
        background=tuple(map(load_background, loads)),
    )
    if (buffer := settings.get("buffer")) is not None:
        calling["buffer"] = platform.stack.buffer(buffer)
    return calling
