"""The files that a command reads and writes, which its options declare.

The annotation of an option that names a file carries a mark that says whether the file is read or
written. Before a command begins, it claims its outputs: none may be a file that the command reads,
whether an option or a list names it, and no two may be the same. The outputs are put in place when
the command has finished and printed its report, or not at all (`hexsim.files.atomic_write`).

Every command that reads a model also takes `--udl`, a file of user-defined layers, which is run
before the command.
"""

import csv
import functools
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any, get_type_hints

import typer

from hexsim.cli._signature import keyword, wraps
from hexsim.files.atomic_write import require_ending, transaction
from hexsim.files.places import Identity, identity
from hexsim.records import dataclass

_ENDINGS = {"json", "csv", "html"}
"""Options that are called as the names of their files end."""
_INPUT = "would overwrite an input"
_PRINTED = "is where this command prints"


@dataclass(frozen=True)
class ReadOption:
    """The mark of an option that names a file to read.

    `file` makes the path from the option's value; `also` finds the files that the file names;
    `check` raises HexsimError for a value that names nothing, before the command begins. `names`
    completes what is begun in a shell.
    """

    also: Callable[[Path], Iterable[Path]] = lambda path: ()
    file: Callable[[str], Path] = Path
    check: Callable[[str], None] = lambda value: None
    names: Callable[[str], list[str]] | None = None

    def values(self, value: Any) -> list[Any]:
        """Return the names in a value: it is one, several, or None."""
        values = value if isinstance(value, list | tuple) else [value]
        return [value for value in values if value is not None]

    def require(self, value: Any) -> None:
        """Raise HexsimError if a name in a value names nothing."""
        for name in self.values(value):
            self.check(name)

    def files(self, value: Any) -> Iterator[Path]:
        """Yield all files that are read for a value, which is a name, several names, or None."""
        for path in map(self.file, self.values(value)):
            yield path
            with suppress(OSError, ValueError, csv.Error):  # its reader reports the error
                if path.is_file() or path.is_dir():
                    yield from self.also(path)


@dataclass(frozen=True)
class ReadOptions(ReadOption):
    """The mark of an option whose value has several names or files, separated by commas."""

    def values(self, value: Any) -> list[str]:
        """Return the names."""
        return separated(value)


def separated(text: str) -> list[str]:
    """Return the words between commas, each once."""
    return list(dict.fromkeys(name.strip() for name in text.split(",") if name.strip()))


@dataclass(frozen=True)
class Writes:
    """The mark of an option that names a file to write, or a `folder` of files.

    `named` makes the path from the values of all options where a file is written by default.
    Without it, nothing is written unless the option is given.
    """

    named: Callable[[Mapping[str, Any]], Path | None] | None = None
    folder: bool = False


def _weights(model: Path) -> Iterable[Path]:
    from hexsim.dlc.loading import is_dlc
    from hexsim.frameworks import weight_files
    from hexsim.onnx_io.file.external_files import external_files

    return () if is_dlc(model) else (*weight_files(model), *external_files(model))


def _require_model(name: str) -> None:
    from hexsim import models

    models.require_model(name)


def _require_chip(name: str) -> None:
    from hexsim.datasheets.texts import CHIPS, chip_name

    CHIPS.located(chip_name(name))


def _require_stack(name: str) -> None:
    from hexsim.datasheets.texts import STACKS

    STACKS.located(name)


def _listed(path: Path) -> Iterator[Path]:
    for word in path.read_text("utf-8").split():
        yield from map(Path, {word, word.partition(":=")[2]} - {""})


def _rows(path: Path) -> Iterator[Path]:
    with path.open(encoding="utf-8-sig", newline="") as file:
        cells = {cell.strip() for row in csv.reader(file) for cell in row}
    for cell in cells - {""}:
        model = path.parent / cell
        yield from (model, *_weights(model))


def _layers_file(text: str) -> Path:
    from hexsim.udl.known import file_and_name

    return file_and_name(text)[0]


def _names_of(module: str) -> Callable[[str], list[str]]:
    """Return what completes a name that a module lists, which is imported when it is asked."""

    def completed(begun: str) -> list[str]:
        return [name for name in import_module(module).names() if name.startswith(begun)]

    return completed


_CHIP_NAMES = _names_of("hexsim.datasheets.chips")
FILE = ReadOption()
"""A file, or the name of something built in."""
MODEL = ReadOption(_weights, check=_require_model, names=_names_of("hexsim.models"))
"""A model, whose weights may be in other files."""
RESULT_OR_MODEL = ReadOption(_weights)
"""A file of results, or a model."""
CHIP = ReadOption(check=_require_chip, names=_CHIP_NAMES)
"""A chip by name, or a file."""
CHIPS = ReadOptions(check=_require_chip, names=_CHIP_NAMES)
"""Several of them."""
STACK = ReadOption(check=_require_stack, names=_names_of("hexsim.datasheets.stacks"))
"""A stack by name, or a file."""
ANCHOR = ReadOption(file=lambda anchor: Path(anchor.rpartition("=")[2]))
"""A calibration, NETWORK=FILE; the latency of one without a file is the name of none."""
INPUT_LIST = ReadOption(_listed)
"""A list of raw files."""
PICTURES = ReadOption(lambda folder: folder.iterdir())
"""A folder of pictures."""
CALIBRATION = ReadOption(lambda path: path.iterdir() if path.is_dir() else _listed(path))
"""A list of raw files, or a folder of pictures."""
ROWS = ReadOption(_rows)
"""Measured rows, which name models."""
OUTPUT = Writes()
"""A file that is written if it is named."""
UDL = ReadOption(file=_layers_file)
"""A file of user-defined layers, perhaps with a name behind it."""
_UDL = "udl"
UdlOption = Annotated[
    list[str] | None, "Python file with layers of your own, which is run; repeatable.", UDL
]


def marks(command: Callable[..., None]) -> dict[str, ReadOption | Writes]:
    """Return the mark of every parameter that names a file, by the parameter's name."""
    return {
        name: mark
        for name, hint in get_type_hints(command, include_extras=True).items()
        for mark in getattr(hint, "__metadata__", ())
        if isinstance(mark, ReadOption | Writes)
    }


def with_files(command: Callable[..., None]) -> Callable[..., None]:
    """Return `command` so that it claims its outputs first and writes all of them or none.

    A command that reads a model also gets the option `--udl`.
    """
    file_options = marks(command)
    hints = get_type_hints(command, include_extras=True)
    added = []
    if {MODEL, RESULT_OR_MODEL} & {*file_options.values()}:
        file_options[_UDL], hints[_UDL] = UDL, UdlOption
        added = [keyword(_UDL, UdlOption, default=None)]
    outputs = {name: mark for name, mark in file_options.items() if isinstance(mark, Writes)}

    @wraps(command, added=added)
    def claim_and_run(**values: Any) -> None:
        layer_files = values.pop(_UDL, None) or []
        for name, mark in outputs.items():
            if mark.named is not None:
                values[name] = mark.named(values)
        protected = functools.cache(
            lambda: _protected_files(file_options, {**values, _UDL: layer_files})
        )
        with transaction(protected) as writes:
            paths = [(values[name], mark) for name, mark in outputs.items() if values[name]]
            for path, mark in sorted(paths, key=lambda output: output[1].folder):
                (writes.claim_folder if mark.folder else writes.claim)(path)
            for name in sorted(_ENDINGS.intersection(name for name in outputs if values[name])):
                require_ending(values[name], f".{name}")
            if layer_files:
                from hexsim.udl import use_layers

                use_layers(*layer_files)
            early_exit = None
            try:
                command(**values)
            except typer.Exit as code:  # this is an answer too: the outputs are kept
                early_exit = code
            sys.stdout.flush()
        if early_exit is not None:
            raise early_exit

    return claim_and_run


def _protected_files(
    file_options: Mapping[str, ReadOption | Writes], values: Mapping[str, Any]
) -> dict[Identity, str]:
    """Return the files that must not be overwritten, each with the reason for the message."""
    protected: dict[Identity, str] = {}
    for stream, reason in ((0, _INPUT), (1, _PRINTED), (2, _PRINTED)):
        try:
            status = os.fstat(stream)
        except OSError:
            continue
        protected[status.st_dev, status.st_ino] = reason
    for name, mark in file_options.items():
        if isinstance(mark, ReadOption):
            protected |= {identity(path): _INPUT for path in mark.files(values[name])}
    return protected
