"""Reads software releases: those that ship with hexsim, and stack files of the user."""

from functools import cache
from pathlib import Path

from hexsim.datasheets.datasheet import Shelf
from hexsim.datasheets.operators import Column, Operators, column
from hexsim.datasheets.stacks.stack import BufferType, Profile, Profiles, Qos, Stack

__all__ = ["BufferType", "Profile", "Profiles", "Qos", "Stack", "load", "names", "that_have"]

_SHELF = Shelf(Stack, "stack", Path(__file__).parent)
names, load = _SHELF.names, _SHELF.load


def that_have(layer: str, variant: str, of: Column) -> tuple[str, ...]:
    """List the built-in stacks that are published, not assumed, to support a layer."""
    verdicts = {
        operators.name: operators.verdict(layer, variant, of)
        for operators, columns in _operators()
        if of in columns
    }
    return tuple(name for name, verdict in verdicts.items() if verdict and verdict.taken)


@cache
def _operators() -> tuple[tuple[Operators, frozenset[Column | None]], ...]:
    """Return the operators of each stack, and the columns of the runtimes that it has."""
    known = map(load, names())
    return tuple((stack.operators, frozenset(map(column, stack.runtimes))) for stack in known)
