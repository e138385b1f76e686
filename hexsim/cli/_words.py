"""Turns options of a group back into words of a command line, if they are not at their default."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields
from typing import Any


def words(group: Any, *names: str) -> tuple[str, ...]:
    """Return the words that set the fields called `names` of a group of options."""
    return tuple(_words(group, names))


def _words(group: Any, names: tuple[str, ...]) -> Iterator[str]:
    for field in fields(group):
        value = getattr(group, field.name)
        if field.name not in names or value == field.default:
            continue
        option = "--" + field.name.replace("_", "-")
        if value is True:
            yield option
            continue
        for element in value if isinstance(value, list | tuple) else [value]:
            yield from (option, str(element))
