"""Kernels whose code is listed in code.toml, instruction by instruction.

An entry with `loop` or `straight` is a kernel with the code of a tile, pipelined or not. With
`runs` the loop is inside a tile, between `after` and `before`. `parts` are pieces of straight code,
each with its runs. Other entries are code from which Python makes kernels, or `lines` that others
use.
"""

import tomllib
from collections.abc import Mapping, Sequence
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

from hexsim.hvx.isa import HvxMachine
from hexsim.hvx.scheduling import straight
from hexsim.hvx.streams._kernel import Kernel, Segment, Stream, call, looped, plain_loop, tile_loop

_OPTIONS = ("title", "pixels", "note", "runs", "parts")


@lru_cache(maxsize=1024)
def listed(name: str, machine: HvxMachine, times: int = 1, **names: object) -> Kernel:
    """Return the kernel of an entry; `names` replace the words in braces.

    A loop inside its tile makes `times` passes.
    """
    entry, code = _entries()[name], listed_code(name, **names)
    title = str(entry["title"]).format_map(names)
    options = {key: entry[key] for key in ("pixels", "note") if key in entry}
    if options.get("pixels") == "vector":
        options["pixels"] = 4 * machine.lanes
    if "parts" in entry:
        tile = []
        for part, runs in entry["parts"].items():
            piece = straight(machine, code[part].insns)
            tile.append(Segment(part, piece, int(str(runs).format_map(names)), piece.length))
        return Kernel(title, machine, tuple(tile), call=call(machine), **options)
    if "straight" in code:
        return plain_loop(title, machine, code["straight"].insns, **options)
    if "runs" in entry:
        around = code["after"], code["before"]
        return looped(title, machine, entry["runs"], times, code["loop"], around, **options)
    before = code.get("before", Stream()).insns
    return tile_loop(title, machine, code["loop"].insns, before=before, **options)


def listed_code(name: str, **names: object) -> dict[str, Stream]:
    """Return the pieces of code of an entry; `names` replace the words in braces."""
    pieces = {key: text for key, text in _entries()[name].items() if key not in _OPTIONS}
    streams = {key: Stream() for key in pieces}
    for key, text in pieces.items():
        _write(streams[key], text.splitlines(), names)
    return streams


@cache
def _entries() -> dict[str, dict[str, Any]]:
    return tomllib.loads(Path(__file__).with_name("code.toml").read_text("utf-8"))


def _write(s: Stream, lines: Sequence[str], names: Mapping[str, object]) -> None:
    """Append the instructions of `lines`, a block once for each item of its `for`."""
    waiting = list(filter(None, lines))
    while waiting:
        line = waiting.pop(0).format_map(names)
        if line.startswith("for "):
            variables, _, items = line.removeprefix("for ").removesuffix(":").partition(" in ")
            block = []
            while waiting and waiting[0].startswith(" "):
                block.append(waiting.pop(0)[4:])
            for item in filter(None, items.split(", ")):
                own = zip(variables.split(), item.split(), strict=True)
                _write(s, block, {**names, **dict(own)})
        elif line.startswith("use "):
            used, *pairs = line.removeprefix("use ").split()
            given = {name: word for name, _, word in (pair.partition("=") for pair in pairs)}
            _write(s, _entries()[used]["lines"].splitlines(), given)
        else:
            result, _, operation = line.rpartition(" = ")
            op, *sources = operation.split()
            immediate = int(sources.pop()[1:]) if sources and sources[-1].startswith("#") else 0
            s(op, result, *sources, imm=immediate)
