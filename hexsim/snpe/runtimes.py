"""Finds the runtime that flags or an order of runtimes select."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from hexsim.cli._say import remark
from hexsim.errors import HexsimError, unknown

if TYPE_CHECKING:
    from hexsim.deployment.platform import Platform
    from hexsim.runtimes import Runtime

NAMES: Mapping[str, Runtime] = {
    "cpu": "cpu",
    "cpu_float32": "cpu",
    "gpu": "gpu",
    "gpu_float32_16_hybrid": "gpu",
    "gpu_float16": "gpu_fp16",
    "gpu_fp16": "gpu_fp16",
    "dsp": "dsp",
    "dsp_fixed8_tf": "dsp",
    "dsp_fixed8": "dsp",
    "aip": "aip",
    "aip_fixed8_tf": "aip",
    "aip_fixed_tf": "aip",
    "fxp_cpu": "fxp_cpu",
    "cpu_fixed8_tf": "fxp_cpu",
}
"""The name of each runtime here, by its names in SNPE's tools and API."""

LONG: Mapping[Runtime, str] = {
    "cpu": "cpu_float32",
    "fxp_cpu": "cpu_fixed8_tf",
    "gpu": "gpu_float32_16_hybrid",
    "gpu_fp16": "gpu_float16",
    "dsp": "dsp_fixed8_tf",
    "aip": "aip_fixed8_tf",
}
"""The name of each runtime in reports of SNPE's tools."""


@dataclass(frozen=True)
class RuntimeChoice:
    """A runtime, and whether the layers that it refuses run on the CPU."""

    runtime: Runtime
    cpu_fallback: bool


def flagged(flags: Sequence[str], gpu_mode: str) -> Runtime:
    """Return the runtime of the last flag given; without flags it is the CPU."""
    runtime = NAMES[flags[-1]] if flags else "cpu"
    return "gpu_fp16" if runtime == "gpu" and gpu_mode == "float16" else runtime


def ordered(text: str, platform: Platform) -> RuntimeChoice:
    """Return the first runtime of an order that chip and stack have, with fallback if CPU follows.

    A network is cut between one runtime and the CPU, so other runtimes of the order get no layers.
    """
    words = [word.strip().lower() for word in text.split(",") if word.strip()]
    for word in words:
        if word not in NAMES:
            raise unknown("runtime of --runtime_order", word, NAMES)
    runtimes = list(dict.fromkeys(NAMES[word] for word in words))
    available = [runtime for runtime in runtimes if runtime in platform.runtimes]
    if not available:
        raise HexsimError(
            f"--runtime_order '{text}' names no runtime of {platform.chip.name} with "
            f"{platform.stack.name}, which has {', '.join(platform.runtimes)}"
        )
    first, *others = available
    if idle := [runtime for runtime in others if runtime != "cpu"]:
        remark(
            f"[WARNING] --runtime_order: {', '.join(idle)} takes no layers, since a network is cut "
            f"between {first} and cpu only"
        )
    return RuntimeChoice(first, "cpu" in others)
