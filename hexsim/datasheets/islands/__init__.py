"""The low-power islands of chips."""

from pathlib import Path

from hexsim.datasheets.chips.chip import Chip
from hexsim.datasheets.datasheet import Shelf
from hexsim.datasheets.islands.datasheet import Island
from hexsim.errors import HexsimError

__all__ = ["Island", "find", "island_of", "load", "names"]

_SHELF = Shelf(Island, "island", Path(__file__).parent)
names, load = _SHELF.names, _SHELF.load


def find(chip: Chip) -> Island | None:
    """Return the island of a chip, or of the chip it is like; None if none is known."""
    islands = map(load, names())
    return next((island for island in islands if {chip.name, chip.like} & {*island.chips}), None)


def island_of(chip: Chip) -> Island:
    """Return the island of a chip; HexsimError if none is known."""
    island = find(chip)
    if island is None:
        known = [name for other in map(load, names()) for name in other.chips]
        raise HexsimError(
            f"no low-power island of chip {chip.name} is known; take one of {', '.join(known)}, "
            "or a chip file that is `like` one of them"
        )
    return island
