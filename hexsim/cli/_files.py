"""What a command reads and writes: said by its options, and held apart for all commands here.

An option that names a file carries a mark beside its help: what it reads or writes. Before a
command begins, its outputs are claimed: none may be a file that it reads, by whichever option that
comes in or whichever list names it, nor the same as another. All that it writes lands when it has
finished and printed its report, or not at all (`hexsim.files.atomic_write`).

Every command that reads a model takes `--udl` besides, a file of user-defined layers, which is run
before the command.
"""

from __future__ import annotations

import csv
import functools
import inspect
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, get_type_hints

import typer
from typer.models import ParameterInfo

from hexsim.files.atomic_write import transaction
from hexsim.files.places import Identity, identity

_INPUT = "would overwrite an input"
_PRINTED = "is where this command prints"


@dataclass(frozen=True)
class ReadOption:
    """The value of an option is read, `file` of it; `also` finds what that names in turn."""

    also: Callable[[Path], Iterable[Path]] = lambda path: ()
    file: Callable[[str], Path] = Path

    def files(self, value: Any) -> Iterator[Path]:
        """All files that are read because of a value: a name, several, or None."""
        values = value if isinstance(value, list | tuple) else [value]
        for path in (self.file(value) for value in values if value is not None):
            yield path
            with suppress(OSError, ValueError, csv.Error):  # whoever reads it says what is wrong
                if path.is_file() or path.is_dir():
                    yield from self.also(path)


@dataclass(frozen=True)
class Writes:
    """The value of an option is written: a file, or a `folder` with files.

    `named` makes the name of all options, where there is a default, or nothing is written.
    """

    named: Callable[[Mapping[str, Any]], Path | None] | None = None
    folder: bool = False


def _weights(model: Path) -> Iterable[Path]:
    from hexsim.dlc.loading import is_dlc
    from hexsim.frameworks import weight_files
    from hexsim.onnx_io.file.external_files import external_files

    return () if is_dlc(model) else (*weight_files(model), *external_files(model))


def _listed(path: Path) -> Iterator[Path]:
    for word in path.read_text("utf-8").split():
        yield from map(Path, {word, word.partition(":=")[2]} - {""})


def _rows(path: Path) -> Iterator[Path]:
    with path.open(encoding="utf-8-sig", newline="") as file:
        cells = {cell.strip() for row in csv.reader(file) for cell in row}
    for cell in cells - {""}:
        model = path.parent / cell
        yield from (model, *_weights(model))


def _brought(text: str) -> Path:
    from hexsim.udl.file import file_and_name

    return file_and_name(text)[0]


FILE = ReadOption()
"""A file, or the name of something built in."""
MODEL = ReadOption(_weights)
"""A model, whose weights may be in other files."""
INPUT_LIST = ReadOption(_listed)
"""A list of raw files."""
PICTURES = ReadOption(lambda folder: folder.iterdir())
"""A folder of pictures."""
ROWS = ReadOption(_rows)
"""Measured rows, which name models."""
OUTPUT = Writes()
"""A file that is written if it is named."""
UDL = ReadOption(file=_brought)
"""A file of user-defined layers, perhaps with a name behind it."""
_UDL = "udl"
UdlOption = Annotated[
    list[str] | None,
    typer.Option("--udl", help="Python file with layers of your own, which is run; repeatable."),
    UDL,
]


def marks(command: Callable[..., None]) -> dict[str, ReadOption | Writes]:
    """Parameter -> its mark, for those that name files."""
    return {
        name: mark
        for name, hint in get_type_hints(command, include_extras=True).items()
        for mark in getattr(hint, "__metadata__", ())
        if isinstance(mark, ReadOption | Writes)
    }


def with_files(command: Callable[..., None]) -> Callable[..., None]:
    """Return `command` such that it claims its outputs first, and its files land together.

    If it reads a model, it knows the layers of `--udl`.
    """
    found = marks(command)
    hints = get_type_hints(command, include_extras=True)
    reads_model = MODEL in found.values()
    if reads_model:
        found[_UDL], hints[_UDL] = UDL, UdlOption
    for one in (one for hint in hints.values() for one in getattr(hint, "__metadata__", ())):
        if isinstance(one, ParameterInfo):
            one.readable = False  # what cannot be read is told in our own words
    declared = inspect.signature(command).parameters.values()

    @functools.wraps(command)
    def careful(**given: Any) -> None:
        brought = given.pop(_UDL, None) or []
        outputs = {name: mark for name, mark in found.items() if isinstance(mark, Writes)}
        for name, mark in outputs.items():
            if mark.named is not None:
                given[name] = mark.named(given)
        with transaction(
            functools.cache(lambda: _kept(found, {**given, _UDL: brought}))
        ) as landing:
            chosen = [(given[name], mark) for name, mark in outputs.items() if given[name]]
            for path, mark in sorted(chosen, key=lambda one: one[1].folder):
                (landing.claim_folder if mark.folder else landing.claim)(path)
            if brought:
                from hexsim.udl import use_layers

                use_layers(*brought)
            ended = None
            try:
                command(**given)
            except typer.Exit as code:  # an answer too, and what it wrote lands
                ended = code
            sys.stdout.flush()
        if ended is not None:
            raise ended

    parameters = [one.replace(annotation=hints[one.name]) for one in declared]
    if reads_model:
        kind = inspect.Parameter.KEYWORD_ONLY
        parameters.append(inspect.Parameter(_UDL, kind, default=None, annotation=UdlOption))
    careful.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    return careful


def guard(app: typer.Typer) -> None:
    """Make every command of a program such a one, those of its groups included."""
    for info in app.registered_commands:
        assert info.callback is not None
        info.callback = with_files(info.callback)
    for group in app.registered_groups:
        assert group.typer_instance is not None
        guard(group.typer_instance)


def _kept(
    found: Mapping[str, ReadOption | Writes], given: Mapping[str, Any]
) -> dict[Identity, str]:
    """What is there and must stay, with what to say of it."""
    kept: dict[Identity, str] = {}
    for stream, why in ((0, _INPUT), (1, _PRINTED), (2, _PRINTED)):
        try:
            status = os.fstat(stream)
        except OSError:
            continue
        kept[status.st_dev, status.st_ino] = why
    for name, mark in found.items():
        if isinstance(mark, ReadOption):
            kept |= {identity(path): _INPUT for path in mark.files(given[name])}
    return kept
