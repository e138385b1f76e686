"""Finds the declarations in all files of a package, without a list of the files.

A file declares classes, or entries of a table with a fixed name; the package collects them when it
is imported. So a part is added by adding a file. Files and classes whose names begin with an
underscore are skipped.
"""

import pkgutil
from importlib import import_module
from types import ModuleType
from typing import Any, TypeVar

T = TypeVar("T")


def modules(package: str) -> list[ModuleType]:
    """Return the public modules of a package, imported, by name."""
    names = sorted(info.name for info in pkgutil.iter_modules(import_module(package).__path__))
    return [import_module(f"{package}.{name}") for name in names if not name.startswith("_")]


def classes(package: str, base: type[T]) -> tuple[type[T], ...]:
    """Return the subclasses of `base` that the modules of a package define, by name."""
    members = (
        member
        for module in modules(package)
        for member in vars(module).values()
        if isinstance(member, type) and member.__module__ == module.__name__
        if not member.__name__.startswith("_")
    )
    return tuple(
        sorted(
            (member for member in members if issubclass(member, base)),
            key=lambda member: member.__name__,
        )
    )


def joined(package: str, table: str) -> dict[Any, Any]:
    """Return the entries of all tables of that name; ValueError if two files give the same key."""
    entries: dict[Any, Any] = {}
    for module in modules(package):
        module_entries = getattr(module, table, {})
        if duplicates := entries.keys() & module_entries.keys():
            raise ValueError(f"{module.__name__}.{table} gives {duplicates} again")
        entries.update(module_entries)
    return entries
