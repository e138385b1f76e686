"""The parts of a sweep that are done, kept in a folder until all are.

A part is a file of its own, written whole. The folder says which sweep it belongs to, so that
parts of two sweeps never meet.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from hexsim import __version__
from hexsim.errors import HexsimError
from hexsim.files import clean_tree, outside_transaction, write_bytes
from hexsim.studies.pool import ranges
from hexsim.studies.sweep.points import Points
from hexsim.studies.sweep.table import FORMAT, as_bytes, read

if TYPE_CHECKING:
    import pyarrow

_SIZE = 32
"""Points of a part at least: about a second's work, which is what a kill costs."""
_MOST = 4096
"""Parts of a sweep at most: each costs a file and milliseconds of the one who keeps them."""
_IDENTITY = "sweep.json"


@dataclass(frozen=True)
class SweepParts:
    """The folder of one sweep; `points` are cut into ranges of a size."""

    folder: Path
    points: Points

    def open(self) -> None:
        """Make the folder, or go on with it; HexsimError if it belongs to another sweep.

        Nobody misses one without parts: such a sweep was ended before its first.
        """
        told = json.dumps({"format": FORMAT, "sweep": self._identity}).encode()
        known = self.folder / _IDENTITY
        if not self.folder.exists() or self._has_no_parts():
            self._write(_IDENTITY, told)
        elif not known.is_file() or known.read_bytes() != told:
            raise HexsimError(
                f"'{self.folder}' holds the parts of another sweep, or something else; remove it "
                "to begin anew, or give the output another name"
            )

    def _has_no_parts(self) -> bool:
        """True for a folder in which there is at most the word whose it is."""
        if not self.folder.is_dir():
            return False
        clean_tree(self.folder)
        return {path.name for path in self.folder.iterdir()} <= {_IDENTITY}

    def missing(self) -> list[range]:
        """Ranges of points that are not done."""
        return [part for part in self._all() if not self._path(part).exists()]

    def add(self, part: range, table: pyarrow.Table) -> None:
        """Keep a part."""
        self._write(self._path(part).name, as_bytes([table], self.points.space, __version__))

    def whole(self) -> bytes:
        """The file of all parts."""
        tables = [read(self._path(part)).table for part in self._all()]
        return as_bytes(tables, self.points.space, __version__)

    def remove(self) -> None:
        """Remove what was kept."""
        for part in self._all():
            self._path(part).unlink(missing_ok=True)
        (self.folder / _IDENTITY).unlink(missing_ok=True)
        self.folder.rmdir()

    def _all(self) -> Iterator[range]:
        return ranges(len(self.points), part_points(len(self.points)))

    def _path(self, part: range) -> Path:
        return self.folder / f"{part.start:012}.parquet"

    def _write(self, name: str, data: bytes) -> None:
        with outside_transaction():
            write_bytes(self.folder / name, data, parents=True)

    @property
    def _identity(self) -> str:
        """What tells this sweep from others: space, networks, constants, loads, our version."""
        sheets = [
            sheet.tree
            for setting in self.points.settings
            for sheet in (setting.platform.chip, setting.platform.stack, *setting.loads.values())
        ]
        sources = [setting.digest for setting in self.points.settings]
        told = [__version__, self.points.space.model_dump(mode="json"), sheets, sources]
        return hashlib.sha256(json.dumps(told, sort_keys=True).encode()).hexdigest()


def part_points(points: int) -> int:
    """How many of so many points are a part."""
    return max(_SIZE, -(-points // _MOST))
