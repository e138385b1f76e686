"""Options that several commands share, and how their texts are read."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, cast

import typer

from hexsim.errors import HexsimError, unknown
from hexsim.runtimes import RUNTIMES, Runtime

ChipOption = Annotated[str, typer.Option("--chip", help="Chip name, or a TOML file.")]
StackOption = Annotated[
    str | None, typer.Option("--stack", help="Software stack; default: the chip's own.")
]
ProfileOption = Annotated[
    str | None, typer.Option("--perf-profile", help="Performance profile; default: the stack's.")
]
IdleOption = Annotated[
    float, typer.Option("--idle-ms", min=0.0, help="Idle time before the call, in ms.")
]
BufferOption = Annotated[
    str | None,
    typer.Option("--buffer", help="User buffers: float or tf8; default: the stack's."),
]
InputDimOption = Annotated[
    list[str] | None,
    typer.Option("--input-dim", help="NAME 1,3,224,224: shape of an input; repeatable."),
]
NoFallbackOption = Annotated[
    bool, typer.Option("--no-cpu-fallback", help="Refuse layers that the runtime does not take.")
]
UncertaintyOption = Annotated[
    bool,
    typer.Option("--uncertainty", help="Sweep assumed and calibrated constants: intervals."),
]
JsonOption = Annotated[Path | None, typer.Option("--json", help="Write the results as JSON.")]
CsvOption = Annotated[Path | None, typer.Option("--csv", help="Write the results as CSV.")]


def parse_runtimes(text: str | None) -> list[Runtime] | None:
    """Read a comma separated list of runtimes; None stays None (every runtime of the chip)."""
    if text is None:
        return None
    names = [name.strip() for name in text.split(",") if name.strip()]
    if not names:
        raise HexsimError(f"--runtime names no runtime; known: {', '.join(RUNTIMES)}")
    for name in names:
        if name not in RUNTIMES:
            raise unknown("runtime", name, RUNTIMES)
    return [cast(Runtime, name) for name in dict.fromkeys(names)]


def parse_runtime(text: str) -> Runtime:
    """Read the name of one runtime."""
    (runtimes, *more) = parse_runtimes(text) or []
    if more:
        raise HexsimError(f"give one runtime, not '{text}'")
    return runtimes


def parse_input_dims(texts: list[str] | None) -> dict[str, tuple[int, ...]]:
    """Read `NAME 1,3,224,224` texts."""
    dims = {}
    for text in texts or []:
        name, _, sizes = text.strip().rpartition(" ")
        try:
            shape = tuple(int(size) for size in sizes.split(","))
        except ValueError:
            shape = ()
        if not name or not shape or min(shape) < 1:
            raise HexsimError(f"--input-dim '{text}' is not of the form 'NAME 1,3,224,224'")
        dims[name.strip()] = shape
    return dims
