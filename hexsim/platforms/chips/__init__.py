"""The Snapdragons that ship with hexsim, and the reader of the user's own chip files."""

from __future__ import annotations

from pathlib import Path
from string import ascii_lowercase

from hexsim.platforms.architecture import Arch
from hexsim.platforms.chips.chip import Chip, Corner
from hexsim.platforms.datasheet import Shelf

__all__ = ["Arch", "Chip", "Corner", "by_asic", "by_device", "load", "names"]

_SHELF = Shelf(Chip, "chip", Path(__file__).parent)


def names() -> tuple[str, ...]:
    """List the built-in chips, those of which little is known included."""
    return _SHELF.names()


def by_asic(number: str) -> Chip | None:
    """Return the built-in chip with a part number ("sm8150"), None if there is none."""
    return next((chip for chip in map(load, names()) if chip.asic == number.lower()), None)


def by_device(name: str) -> Chip | None:
    """Return the built-in chip that a device is called after, in any case: None if there is none.

    It may be our name ("sd845"), a part number ("sm8150", "MSM8998") or the digits of either
    ("845", "8998"); of two chips with a number the first.
    """
    word = name.strip().lower()
    for known in names():
        chip = load(known)
        called = {known, known.removeprefix("sd"), chip.asic, chip.asic.lstrip(ascii_lowercase)}
        if word and word in called:
            return chip
    return None


def load(name_or_path: str | Path) -> Chip:
    """Load a built-in chip by name ("sd835"), or a chip file by its path (ends in .toml)."""
    return _SHELF.load(name_or_path)
