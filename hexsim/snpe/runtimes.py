"""Finds the runtime that flags, an order of runtimes or a library of QNN select."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import PurePath
from typing import TYPE_CHECKING, Annotated

import typer

from hexsim.cli._say import log
from hexsim.errors import HexsimError, unknown
from hexsim.records import dataclass
from hexsim.runtimes import MAIN_ENGINE
from hexsim.snpe.option import read_table

if TYPE_CHECKING:
    from hexsim.deployment.platform import Platform
    from hexsim.runtimes import Runtime


_TABLE = read_table("runtimes")
LIBRARIES: Mapping[str, str] = _TABLE["libraries"]
"""The runtime of each library of a backend, by the names of SNPE's tools."""
NAMES: Mapping[str, Runtime] = _TABLE["names"]
"""The name of each runtime here, by its names in SNPE's tools and API."""
LONG: Mapping[Runtime, str] = _TABLE["long"]
"""The name of each runtime in reports of SNPE's tools."""


def runtime_of(flag: str) -> str:
    """Return the runtime of a flag: its own name, or that of a backend's library, by its path."""
    if not PurePath(flag).suffix and "/" not in flag:
        return flag
    library = PurePath(flag).name
    if library not in LIBRARIES:
        raise unknown("library of --backend", library, LIBRARIES)
    return LIBRARIES[library]


_DLC_LIBRARIES = ("libQnnModelDlc.so", "QnnModelDlc.dll")
ModelLibrary = Annotated[str | None, typer.Option("--model-library")]


def check_model_library(library: str | None) -> None:
    """Raise HexsimError unless a library, which may have a path, is that for .dlc files."""
    if library is not None and PurePath(library).name not in _DLC_LIBRARIES:
        raise HexsimError(
            f"--model {library}: a library of a network is code for a device; convert with "
            f"qairt-converter, and give --dlc_path, alone or beside {_DLC_LIBRARIES[0]}"
        )


@dataclass(frozen=True)
class RuntimeChoice:
    """A runtime, and whether the layers that it refuses run on the CPU."""

    runtime: Runtime
    cpu_fallback: bool


def on_platform(runtime: Runtime, platform: Platform, *, quantized: bool) -> Runtime:
    """Return the runtime of the platform that `runtime` stands for in SNPE's tools.

    From V68 on the tools call the tensor processor (HTP) DSP. It runs a quantised network in codes
    (quantised values), and a float one in float16 if it has that.
    """
    runtimes = platform.runtimes
    if "htp" not in runtimes or not (
        runtime == "htp" or (runtime == "dsp" and "dsp" not in runtimes)
    ):
        return runtime
    return "htp" if quantized or "htp_fp16" not in runtimes else "htp_fp16"


def flagged(flags: Sequence[str], gpu_mode: str, platform: Platform, *, quantized: bool) -> Runtime:
    """Return the runtime of the last flag given; without flags it is the CPU."""
    runtime = NAMES[runtime_of(flags[-1])] if flags else "cpu"
    if runtime == "gpu" and gpu_mode == "float16":
        return "gpu_fp16"
    return on_platform(runtime, platform, quantized=quantized)


def remark_profile(runtime: Runtime, profile: str) -> None:
    """Say what a profile changes on a tensor processor, of which one clock is known."""
    if MAIN_ENGINE[runtime] == "htp" and profile not in ("default", "burst"):
        log(
            "WARNING",
            f"--perf_profile {profile} changes the energy and the call from the CPU, and "
            "not the time of the graph: one clock of the tensor processor is known, and it is used "
            "in every profile",
        )


def one_for_each(option: str, values: Sequence[str], threads: int, what: str) -> list[str]:
    """Return one value of an option for each thread; a single value is used for all."""
    if len(values) not in (1, threads):
        raise HexsimError(
            f"there are {threads} {what} and {len(values)} times {option}; give one for each, or "
            "one for all"
        )
    return list(values) * (threads if len(values) == 1 else 1)


def ordered(text: str, platform: Platform, *, quantized: bool) -> RuntimeChoice:
    """Return the first runtime of an order that chip and stack have, with fallback if CPU follows.

    A network is cut between one runtime and the CPU, so other runtimes of the order get no layers.
    """
    words = [word.strip().lower() for word in text.split(",") if word.strip()]
    for word in words:
        if word not in NAMES:
            raise unknown("runtime of --runtime_order", word, NAMES)
    named = (on_platform(NAMES[word], platform, quantized=quantized) for word in words)
    runtimes = list(dict.fromkeys(named))
    available = [runtime for runtime in runtimes if runtime in platform.runtimes]
    if not available:
        raise HexsimError(
            f"'{text}' names no runtime of {platform.chip.name} with "
            f"{platform.stack.name}, which has {', '.join(platform.runtimes)}"
        )
    first, *others = available
    if idle := [runtime for runtime in others if runtime != "cpu"]:
        log(
            "WARNING",
            f"--runtime_order: {', '.join(idle)} takes no layers, since a network is cut "
            f"between {first} and cpu only",
        )
    return RuntimeChoice(first, "cpu" in others)
