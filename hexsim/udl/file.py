"""Runs a Python file that brings layers; only those do that the user names.

It is compiled and run where it lies, and nothing is written beside it. All `UserLayer`s that it
leaves in names of its own are its layers; or, with the name of something behind the file, what that
is: a layer, several, or a function that returns them.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

from hexsim.errors import HexsimError, InvalidDataError
from hexsim.texts.text import read_text
from hexsim.udl.calling import exception_text, line_in, where
from hexsim.udl.definition import UserLayer
from hexsim.udl.known import give


def use_layers(*sources: str | Path | UserLayer) -> tuple[UserLayer, ...]:
    """Make user-defined layers known to this process: those of Python files, or layers themselves.

    A file that is given as text may be followed by a blank and the name of what in it gives the
    layers. Networks that were loaded before keep the layers they have. Returns all layers. Raises
    HexsimError, naming file and line, for a file that cannot be read or run, or brings no layer.
    """
    found: list[UserLayer] = []
    for source in sources:
        found += [source] if isinstance(source, UserLayer) else _of_file(source)
    give(found)
    return tuple(found)


def _of_file(source: str | Path) -> list[UserLayer]:
    path, wanted = file_and_name(source)
    module = _run(path)
    given = _wanted(module, wanted, path) if wanted else _own(module)
    layers = [replace(layer, source=path.name) for layer in given]
    if not layers:
        raise HexsimError(f"'{path}' defines no layer; give a UserLayer a name in it")
    names = [layer.name for layer in layers]
    for name in names:
        if names.count(name) > 1:
            raise HexsimError(f"'{path}' defines {name} twice; leave one of them out")
    return layers


def file_and_name(source: str | Path) -> tuple[Path, str]:
    """Return the file, and the name behind it or nothing."""
    text = str(source)
    file, _, name = text.rpartition(" ")
    if isinstance(source, Path) or not (file and name.isidentifier()) or Path(text).exists():
        return Path(source), ""
    return Path(file), name


def _own(module: ModuleType) -> Iterator[UserLayer]:
    """All layers of a module, each once."""
    found = (value for value in vars(module).values() if isinstance(value, UserLayer))
    return iter(dict.fromkeys(found))


def _wanted(module: ModuleType, name: str, path: Path) -> Iterable[UserLayer]:
    if not hasattr(module, name):
        raise HexsimError(f"'{path}' has no '{name}', which is to give its layers")
    found: Any = getattr(module, name)
    if callable(found):
        try:
            found = found()
        except (Exception, SystemExit) as error:
            raise _failed(error, path) from error
    several = [found] if isinstance(found, UserLayer) else found
    if not isinstance(several, Iterable) or not all(isinstance(x, UserLayer) for x in several):
        raise HexsimError(f"'{name}' of '{path}' gives no UserLayer, nor several in a list")
    return several


def _run(path: Path) -> ModuleType:
    """Run a file as a module that nobody can import by accident."""
    try:
        text = read_text(path, "user-defined layers", "give a Python file")
    except InvalidDataError as error:
        raise HexsimError(str(error)) from None
    name = f"hexsim_udl_{path.stem}"
    module = ModuleType(name)
    module.__file__ = str(path)
    sys.modules[name] = module  # dataclasses look themselves up there
    try:
        exec(compile(text, str(path), "exec"), module.__dict__)
    except (Exception, SystemExit) as error:
        del sys.modules[name]
        raise _failed(error, path) from error
    return module


def _failed(error: BaseException, path: Path) -> HexsimError:
    line = error.lineno if isinstance(error, SyntaxError) else None
    line = line or line_in(error.__traceback__, str(path))
    return HexsimError(f"{where(str(path), line)} cannot be run: {exception_text(error)}")
