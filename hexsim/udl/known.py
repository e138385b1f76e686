"""The user-defined layers that this process knows, by operator.

They are looked up where a network is read; its layers then keep what was found. What the program
gave comes first, the last of a name; then what is installed. An entry point of the group
`hexsim.layers` is named after the operator with its domain, and is imported when a network has such
a node. Standard operators, which have no domain, are taken from what the program gave alone.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import cache
from importlib.metadata import EntryPoint, entry_points

from hexsim.errors import HexsimError
from hexsim.udl.calling import exception_text
from hexsim.udl.definition import UserLayer

GROUP = "hexsim.layers"
"""Of entry points."""

_GIVEN: dict[str, UserLayer] = {}


def give(layers: Iterable[UserLayer]) -> None:
    """Make layers known, in place of former ones of their names."""
    _GIVEN.update((layer.name, layer) for layer in layers)


def find(name: str) -> UserLayer | None:
    """Return the layer of an operator, None if nobody brings it.

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
        found = point.load()
    except (Exception, SystemExit) as error:
        raise HexsimError(f"{where} cannot be loaded: {exception_text(error)}") from error
    if not isinstance(found, UserLayer) or found.name != point.name:
        raise HexsimError(f"{where} of group {GROUP} is no UserLayer of that operator")
    return found if found.source else replace(found, source=point.value.partition(":")[0])
