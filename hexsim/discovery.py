"""What the files of a room declare, found without a list of them.

A file offers classes, or the entries of a table whose name the room knows; the room collects them
when it is imported. So a part is added by adding a file. Files whose names begin with an underscore
declare nothing.
"""

from __future__ import annotations

import pkgutil
from importlib import import_module
from types import ModuleType
from typing import Any, TypeVar

T = TypeVar("T")


def modules(package: str) -> list[ModuleType]:
    """Return the public modules of a package, imported, by name."""
    names = sorted(found.name for found in pkgutil.iter_modules(import_module(package).__path__))
    return [import_module(f"{package}.{name}") for name in names if not name.startswith("_")]


def classes(package: str, base: type[T]) -> tuple[type[T], ...]:
    """Return the subclasses of `base` that the modules of a package define, by name."""
    found = (
        member
        for module in modules(package)
        for member in vars(module).values()
        if isinstance(member, type) and member.__module__ == module.__name__
    )
    return tuple(
        sorted((one for one in found if issubclass(one, base)), key=lambda one: one.__name__)
    )


def joined(package: str, table: str) -> dict[Any, Any]:
    """Return the entries of all tables of that name; ValueError if two files give the same key."""
    entries: dict[Any, Any] = {}
    for module in modules(package):
        own = getattr(module, table, {})
        if twice := entries.keys() & own.keys():
            raise ValueError(f"{module.__name__}.{table} gives {twice} again")
        entries.update(own)
    return entries
