"""Reads loads that share the DSP with a network: shipped ones, and files of the user."""

from pathlib import Path

from hexsim.datasheets.background.load import Background, Client
from hexsim.datasheets.datasheet import Shelf

__all__ = ["Background", "Client", "load", "names"]

_SHELF = Shelf(Background, "background load", Path(__file__).parent)


def names() -> tuple[str, ...]:
    """List the built-in loads, without reading their files."""
    return _SHELF.names()


def load(name_or_path: str | Path) -> Background:
    """Load a built-in load by name ("camera"), or a file of the user's by its path (*.toml)."""
    return _SHELF.load(name_or_path)
