"""Energy constants of each silicon process, and the process of each chip."""

from functools import cache
from pathlib import Path

from hexsim.datasheets.chips.chip import Chip
from hexsim.datasheets.datasheet import Shelf
from hexsim.datasheets.energies.datasheet import EnergyDatasheet

__all__ = ["EnergyDatasheet", "datasheet_of", "datasheets_of", "load", "names"]

_SHELF = Shelf(EnergyDatasheet, "process", Path(__file__).parent)
names, load = _SHELF.names, _SHELF.load
_UNKNOWN = "unknown-process"


def datasheet_of(chip: Chip) -> EnergyDatasheet:
    """Return the constants of a chip's process; unknown processes have wider bounds."""
    return datasheets_of(chip)[0]


def datasheets_of(chip: Chip) -> tuple[EnergyDatasheet, EnergyDatasheet, EnergyDatasheet]:
    """Return the constants as stated, at their lower ends, and at their upper ends."""
    return _with_ends(_process(chip.name, chip.like))


@cache
def _process(chip: str, like: str) -> str:
    """Return the process of a chip, by its name or that of the chip it is like."""
    shipped = ((name, load(name).chips) for name in names())
    return next((name for name, chips in shipped if chip in chips or like in chips), _UNKNOWN)


@cache
def _with_ends(process: str) -> tuple[EnergyDatasheet, EnergyDatasheet, EnergyDatasheet]:
    """Return a process with its ends; cached, because every point of a sweep needs it."""
    datasheet = load(process)
    return datasheet, datasheet.at_end("low"), datasheet.at_end("high")
