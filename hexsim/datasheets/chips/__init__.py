"""Reads chips: the Snapdragons that ship with hexsim, and chip files of the user."""

from pathlib import Path

from hexsim.datasheets.architecture import Arch
from hexsim.datasheets.chips.chip import Chip, Corner
from hexsim.datasheets.datasheet import Shelf
from hexsim.datasheets.texts import chip_name

__all__ = ["Arch", "Chip", "Corner", "load", "names"]

_SHELF = Shelf(Chip, "chip", Path(__file__).parent)
names = _SHELF.names


def load(name_or_path: str | Path) -> Chip:
    """Load a built-in chip by any of its names, or a chip file by its path (ends in .toml).

    Names are those of hexsim ("sd835") and Qualcomm ("Snapdragon 835"), and the part number with
    or without its letters ("MSM8998", "8998"), in any case.
    """
    return _SHELF.load(chip_name(str(name_or_path)))
