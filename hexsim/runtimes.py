"""The runtimes of networks, by the names of the SNPE tools, and their engines.

AIP is the only runtime with two engines: layers outside HTA sections run on HVX. `htp` and
`htp_fp16` are no names of those tools: they are the tensor processors of V68 and later, with
quantised values (codes) and with float16.
"""

from collections.abc import Collection, Mapping
from typing import Literal, get_args

Runtime = Literal["cpu", "fxp_cpu", "gpu", "gpu_fp16", "dsp", "aip", "htp", "htp_fp16"]
RUNTIMES: tuple[Runtime, ...] = get_args(Runtime)

FIXED_POINT: frozenset[Runtime] = frozenset({"fxp_cpu", "dsp", "aip", "htp"})
"""Runtimes that compute in integers and therefore need encodings."""

Engine = Literal["cpu", "gpu", "hvx", "hta", "htp"]

MAIN_ENGINE: Mapping[Runtime, Engine] = {
    "cpu": "cpu",
    "fxp_cpu": "cpu",
    "gpu": "gpu",
    "gpu_fp16": "gpu",
    "dsp": "hvx",
    "aip": "hvx",
    "htp": "htp",
    "htp_fp16": "htp",
}
"""The engine of a runtime that runs all layers that are not compiled for another engine."""

FileForm = Literal["float", "quantised here", "quantised file"]
"""The file that a runtime gets; networks are quantised here on seeded or a user's inputs."""

LayerTarget = Runtime | Literal["hta"]
"""A target that supports or refuses a layer: a runtime, or the tensor engine of aip."""

IN_WORDS: Mapping[Runtime, str] = {
    "cpu": "the CPU (cpu)",
    "fxp_cpu": "the CPU (fxp_cpu)",
    "gpu": "the GPU (gpu)",
    "gpu_fp16": "the GPU (gpu_fp16)",
    "dsp": "the DSP (dsp)",
    "aip": "the tensor engine and the DSP (aip)",
    "htp": "the tensor processor (htp)",
    "htp_fp16": "the tensor processor (htp_fp16)",
}
"""The hardware of a runtime, with the name of the runtime."""

DEFAULT_CHIP = "sd8gen4"
"""The chip of every command and function where none is named: that of a phone of today."""

_PREFERRED: tuple[Runtime, ...] = ("htp", "dsp", "gpu", "cpu")

RuntimeChoice = Runtime | Literal["auto"]
"""A runtime, or the one that a phone would use for a network that is deployed on it."""


def placed(network: str, runtime: Runtime, chip: str, precision: str) -> str:
    """Return what ran where: `net on the tensor processor (htp) of sd8gen4, 8 bits, ...`.

    The `precision` says in words what it computes in; it is empty in files of earlier versions.
    """
    words = f"{network} on {IN_WORDS[runtime]} of {chip}"
    return f"{words}, {precision}" if precision else words


def assumed(chip: str, unnamed: str) -> str:
    """Return the line on a chip that was taken, as `unnamed` says: "no chip is given"."""
    return f"chip: {chip}, because {unnamed}; hexsim chips list names the others"


def preferred(runtimes: Collection[Runtime], *, sections: bool = False) -> Runtime:
    """Return the runtime of a chip where none is named; `sections` are compiled for its HTA."""
    if sections and "aip" in runtimes:
        return "aip"
    return next(runtime for runtime in _PREFERRED if runtime in runtimes)
