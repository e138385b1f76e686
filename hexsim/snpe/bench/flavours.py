"""Flavours: each runtime of a config with the buffers that it may have."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from hexsim.errors import HexsimError, unknown

if TYPE_CHECKING:
    from hexsim.runtimes import Runtime

_FLOAT = ("float", "ub_float")
_CODES = (*_FLOAT, "ub_tf8")
_CODES_16 = (*_FLOAT, "ub_tf16")
_ASKED = ("ub_auto",)
"""Buffers that a runtime in codes may have too, if a config asks for them."""


@dataclass(frozen=True)
class _FlavourKind:
    """What a config calls a runtime: ours, the flags of snpe-net-run, the buffers it may have."""

    runtime: Runtime
    flags: str
    buffers: tuple[str, ...]


_KINDS: Mapping[str, _FlavourKind] = {
    "CPU": _FlavourKind("cpu", "", _FLOAT),
    "GPU": _FlavourKind("gpu", "--use_gpu", _FLOAT),
    "GPU_FP16": _FlavourKind("gpu_fp16", "--use_gpu --gpu_mode float16", _FLOAT),
    "DSP": _FlavourKind("dsp", "--use_dsp", _CODES),
    "AIP": _FlavourKind("aip", "--use_aip", _CODES),
    "DSP_ACT16": _FlavourKind("dsp", "--use_dsp", _CODES_16),
    "AIP_ACT16": _FlavourKind("aip", "--use_aip", _CODES_16),
    "CPU_FXP8": _FlavourKind("fxp_cpu", "--use_fxp_cpu", _FLOAT),
}
_NOT_HERE: Mapping[str, str] = {
    "DSP_FP16": "the DSP of these chips does not compute in floats; take DSP",
    "GPU_S": "the small library for the GPU is not simulated; take GPU",
}
BUFFERS = ("float", "ub_float", "ub_tf8", "ub_tf16", "ub_auto")


@dataclass(frozen=True)
class Flavour:
    """A runtime with one kind of buffers; `user_buffer` is empty where there are none."""

    runtime_name: str
    runtime: Runtime
    runtime_flags: str
    user_buffer: str

    @property
    def name(self) -> str:
        """What folders and columns are called after it."""
        return self.runtime_name + (f"_ub_{self.user_buffer}" if self.user_buffer else "")

    def flags(self, *, float_outputs: bool) -> str:
        """The flags of snpe-net-run that run it."""
        found = [self.runtime_flags]
        if self.user_buffer:
            found.append(f"--userbuffer_{self.user_buffer}")
            if float_outputs and self.user_buffer != "float":
                found.append("--userbuffer_float_output")
        return " ".join(filter(None, found))


def flavours(runtimes: Sequence[str], buffers: Sequence[str] | None) -> tuple[Flavour, ...]:
    """Return the flavours of the named runtimes, `buffers` None for all that each may have.

    Raises HexsimError for a name that nobody knows, and if no runtime may have the buffers.
    """
    wanted = None if buffers is None else {_buffer(name) for name in buffers}
    found = []
    for name in dict.fromkeys(runtime.upper() for runtime in runtimes):
        if name in _NOT_HERE:
            raise HexsimError(f"runtime {name}: {_NOT_HERE[name]}")
        if name not in _KINDS:
            raise unknown("runtime", name, _KINDS)
        kind = _KINDS[name]
        legal = kind.buffers + (_ASKED if wanted and kind.buffers is not _FLOAT else ())
        found += [
            Flavour(name, kind.runtime, kind.flags, "" if one == "float" else one[3:])
            for one in legal
            if wanted is None or one in wanted
        ]
    if not found:
        raise HexsimError(
            f"none of {', '.join(runtimes)} may have buffers of type {', '.join(buffers or ())}; "
            "leave BufferTypes out for all that each may have"
        )
    return tuple(found)


def _buffer(name: str) -> str:
    word = name.lower() or "float"
    if word not in BUFFERS:
        raise unknown("buffer type", name, BUFFERS)
    return word
