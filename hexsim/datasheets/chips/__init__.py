"""Reads chips: the Snapdragons that ship with hexsim, and chip files of the user."""

from __future__ import annotations

import re
from pathlib import Path
from string import ascii_lowercase

from hexsim.datasheets.architecture import Arch
from hexsim.datasheets.chips.chip import Chip, Corner
from hexsim.datasheets.datasheet import Shelf

__all__ = ["Arch", "Chip", "Corner", "load", "names"]

_SHELF = Shelf(Chip, "chip", Path(__file__).parent)


def names() -> tuple[str, ...]:
    """List the built-in chips, including those with little data."""
    return _SHELF.names()


def load(name_or_path: str | Path) -> Chip:
    """Load a built-in chip by any of its names, or a chip file by its path (ends in .toml).

    Names are those of hexsim ("sd835") and Qualcomm ("Snapdragon 835"), and the part number with
    or without its letters ("MSM8998", "8998"), in any case.
    """
    text = str(name_or_path)
    return _SHELF.load(text if text.endswith(".toml") or text in names() else _name_of(text))


def _name_of(text: str) -> str:
    """Return the name of the chip that a user calls `text`, or `text` if there is none."""
    plain = re.sub(r"[\s_-]", "", text.lower()).replace("+", "plus").replace("snapdragon", "sd")
    for name in (plain, f"sd{plain}"):
        if name in names():
            return name
    for name in names():
        for number in _SHELF.load(name).part_numbers:
            if plain in (number, number.lstrip(ascii_lowercase)):
                return name
    return text
