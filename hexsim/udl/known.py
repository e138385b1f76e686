"""The user-defined layers that this process knows, by operator.

They are looked up when a network is read; the layers of the network then keep the definition.
Layers that the program gave come first, the last one of a name; then installed layers. An entry
point of the group `hexsim.layers` is named after the operator with its domain, and is imported when
a network has such a node. Standard operators, which have no domain, are only taken from the layers
that the program gave.
"""

from collections.abc import Iterable
from dataclasses import replace
from functools import cache
from importlib.metadata import EntryPoint, entry_points

from hexsim.errors import HexsimError
from hexsim.udl.calling import exception_text
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
