"""The user-defined layers that this process knows, by operator, and the files that define some.

They are looked up when a network is read; the layers of the network then keep the definition.
Layers that the program gave come first, the last one of a name; then installed layers. An entry
point of the group `hexsim.layers` is named after the operator with its domain, and is imported when
a network has such a node. Standard operators, which have no domain, are only taken from the layers
that the program gave.

The file is compiled and run in its place, and nothing is written beside it. Its layers are all
`UserLayer`s to which it gives names of its own. If the file's name is followed by the name of an
object in the file, that object gives the layers: it is a layer, several, or a function that returns
them.
"""

import sys
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from types import ModuleType
from typing import Any

from hexsim.errors import HexsimError
from hexsim.texts.arguments import arguments_checked
from hexsim.texts.text import read_text
from hexsim.udl.calling import exception_text, line_in, where
from hexsim.udl.definition import UserLayer

GROUP = "hexsim.layers"
"""The group of entry points."""

_GIVEN: dict[str, UserLayer] = {}


def give(layers: Iterable[UserLayer]) -> None:
    """Make layers known; they replace earlier layers of the same names."""
    _GIVEN.update((layer.name, layer) for layer in layers)


def find(name: str) -> UserLayer | None:
    """Return the layer of an operator, None if it is not known.

    Raises HexsimError for an entry point that cannot be loaded.
    """
    if name in _GIVEN or "." not in name:
        return _GIVEN.get(name)
    point = _installed().get(name)
    return None if point is None else _loaded(point)


@cache
def _installed() -> dict[str, EntryPoint]:
    return {point.name: point for point in entry_points(group=GROUP)}


@cache
def _loaded(point: EntryPoint) -> UserLayer:
    where = f"entry point '{point.name}' ({point.value})"
    try:
        layer = point.load()
    except (Exception, SystemExit) as error:
        raise HexsimError(f"{where} cannot be loaded: {exception_text(error)}") from error
    if not isinstance(layer, UserLayer) or layer.name != point.name:
        raise HexsimError(f"{where} of group {GROUP} is no UserLayer of that operator")
    return layer if layer.source else replace(layer, source=point.value.partition(":")[0])


@arguments_checked
def use_layers(*sources: str | Path | UserLayer) -> tuple[UserLayer, ...]:
    """Make user-defined layers known to this process: those of Python files, or layers themselves.

    A file that is given as text may be followed by a blank and the name of the object in it that
    gives the layers. Networks that were loaded before keep their layers. Returns all layers. Raises
    HexsimError, naming file and line, for a file that cannot be read or run, or that defines no
    layer.
    """
    layers: list[UserLayer] = []
    for source in sources:
        layers += [source] if isinstance(source, UserLayer) else _of_file(source)
    give(layers)
    return tuple(layers)


def _of_file(source: str | Path) -> list[UserLayer]:
    path, wanted = file_and_name(source)
    module = _run(path)
    defined = _wanted(module, wanted, path) if wanted else _own(module)
    layers = [replace(layer, source=path.name) for layer in defined]
    if not layers:
        raise HexsimError(f"'{path}' defines no layer; give a UserLayer a name in it")
    names = [layer.name for layer in layers]
    for name in names:
        if names.count(name) > 1:
            raise HexsimError(f"'{path}' defines {name} twice; leave one of them out")
    return layers


def file_and_name(source: str | Path) -> tuple[Path, str]:
    """Return the file, and the name behind it (empty if there is none)."""
    text = str(source)
    file, _, name = text.rpartition(" ")
    if isinstance(source, Path) or not (file and name.isidentifier()) or Path(text).exists():
        return Path(source), ""
    return Path(file), name


def _own(module: ModuleType) -> Iterator[UserLayer]:
    """Return all layers of a module, each once."""
    layers = (value for value in vars(module).values() if isinstance(value, UserLayer))
    return iter(dict.fromkeys(layers))


def _wanted(module: ModuleType, name: str, path: Path) -> Iterable[UserLayer]:
    if not hasattr(module, name):
        raise HexsimError(f"'{path}' has no '{name}', which is to give its layers")
    value: Any = getattr(module, name)
    if callable(value):
        try:
            value = value()
        except (Exception, SystemExit) as error:
            raise _failed(error, path) from error
    layers = [value] if isinstance(value, UserLayer) else value
    if not isinstance(layers, Iterable) or not all(isinstance(x, UserLayer) for x in layers):
        raise HexsimError(f"'{name}' of '{path}' gives no UserLayer, nor several in a list")
    return layers


def _run(path: Path) -> ModuleType:
    """Run a file as a module that cannot be imported by accident."""
    text = read_text(path, "user-defined layers", "give a Python file")
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
