"""The software releases that ship with hexsim, and the reader of the user's own stack files."""

from __future__ import annotations

from pathlib import Path

from hexsim.platforms.datasheet import Shelf
from hexsim.platforms.stacks.stack import BufferType, Profile, Profiles, Qos, Stack

__all__ = ["BufferType", "Profile", "Profiles", "Qos", "Stack", "load", "names"]

_SHELF = Shelf(Stack, "stack", Path(__file__).parent)


def names() -> tuple[str, ...]:
    """List the built-in stacks, without reading their files."""
    return _SHELF.names()


def load(name_or_path: str | Path) -> Stack:
    """Load a built-in stack by name ("snpe-1.23"), or a stack file by its path (ends in .toml)."""
    return _SHELF.load(name_or_path)
