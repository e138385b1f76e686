"""Flavours: the runtimes of a config, each combined with the buffers that it may have."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from hexsim.errors import HexsimError, unknown
from hexsim.records import dataclass, replace
from hexsim.snpe.option import read_table
from hexsim.snpe.runtimes import on_platform

if TYPE_CHECKING:
    from hexsim.deployment.platform import Platform
    from hexsim.runtimes import Runtime

_FLOAT = ("float", "ub_float")
_IF_NAMED = ("ub_auto",)
"""Buffers that a fixed-point runtime may also have, if a config names them."""


@dataclass(frozen=True)
class _FlavourKind:
    """A runtime by its name in a config: ours, flags of snpe-net-run, and bits of its codes."""

    runtime: Runtime
    flags: str = ""
    bits: int | None = None

    @property
    def buffers(self) -> tuple[str, ...]:
        return (*_FLOAT, f"ub_tf{self.bits}") if self.bits else _FLOAT


_KINDS = {name: _FlavourKind(**row) for name, row in read_table("runtimes")["flavours"].items()}
BUFFERS = ("float", "ub_float", "ub_tf8", "ub_tf16", "ub_auto")


@dataclass(frozen=True)
class Flavour:
    """A runtime with one kind of buffers; `user_buffer` is empty if there are none."""

    runtime_name: str
    runtime: Runtime
    runtime_flags: str
    user_buffer: str

    @property
    def name(self) -> str:
        """The name of its folders and columns."""
        return self.runtime_name + (f"_ub_{self.user_buffer}" if self.user_buffer else "")

    def on(self, platform: Platform, *, quantized: bool) -> Flavour:
        """Return the flavour with the runtime that the platform calls by this name.

        Raises HexsimError for DSP_FP16 on a platform whose DSP does not compute in floats.
        """
        if self.runtime == "htp_fp16":
            if self.runtime not in platform.runtimes:
                raise HexsimError(
                    f"runtime {self.runtime_name}: the DSP of {platform.chip.name} does not "
                    "compute in floats; take DSP"
                )
            return self
        return replace(self, runtime=on_platform(self.runtime, platform, quantized=quantized))

    def flags(self, *, float_outputs: bool) -> str:
        """Return the flags of snpe-net-run that run it."""
        flags = [self.runtime_flags]
        if self.user_buffer:
            flags.append(f"--userbuffer_{self.user_buffer}")
            if float_outputs and self.user_buffer != "float":
                flags.append("--userbuffer_float_output")
        return " ".join(filter(None, flags))


def flavours(runtimes: Sequence[str], buffers: Sequence[str] | None) -> tuple[Flavour, ...]:
    """Return the flavours of the named runtimes; `buffers` None selects all that each may have.

    Raises HexsimError for an unknown name, and if no runtime may have the buffers.
    """
    wanted = None if buffers is None else {_buffer(name) for name in buffers}
    result = []
    for name in dict.fromkeys(runtime.upper() for runtime in runtimes):
        if name == "GPU_S":
            raise HexsimError(
                f"runtime {name}: the small library for the GPU is not simulated; take GPU"
            )
        if name not in _KINDS:
            raise unknown("runtime", name, _KINDS)
        kind = _KINDS[name]
        allowed = kind.buffers + (_IF_NAMED if wanted and kind.bits else ())
        result += [
            Flavour(name, kind.runtime, kind.flags, "" if buffer == "float" else buffer[3:])
            for buffer in allowed
            if wanted is None or buffer in wanted
        ]
    if not result:
        raise HexsimError(
            f"none of {', '.join(runtimes)} may have buffers of type {', '.join(buffers or ())}; "
            "leave BufferTypes out for all that each may have"
        )
    return tuple(result)


def _buffer(name: str) -> str:
    word = name.lower() or "float"
    if word not in BUFFERS:
        raise unknown("buffer type", name, BUFFERS)
    return word
