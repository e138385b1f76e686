"""What silicon of each process spends, and which chip is made in which process."""

from __future__ import annotations

from pathlib import Path

from hexsim.platforms.chips.chip import Chip
from hexsim.platforms.datasheet import Shelf
from hexsim.platforms.energies.sheet import EnergySheet

__all__ = ["EnergySheet", "load", "names", "sheet_of"]

_SHELF = Shelf(EnergySheet, "process", Path(__file__).parent)
_UNKNOWN = "unknown-process"


def names() -> tuple[str, ...]:
    """List the processes."""
    return _SHELF.names()


def load(name: str) -> EnergySheet:
    """Load the constants of a process by its name; HexsimError for an unknown one."""
    return _SHELF.load(name)


def sheet_of(chip: Chip) -> EnergySheet:
    """Return the constants for a chip, or for one it is like; others have wider bounds."""
    for name in names():
        sheet = load(name)
        if chip.name in sheet.chips or chip.like in sheet.chips:
            return sheet
    return load(_UNKNOWN)
