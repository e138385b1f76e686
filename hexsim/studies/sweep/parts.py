"""The parts of a sweep: simulated by workers, and stored in a folder until all are finished.

A part is a file of its own, written atomically. The folder records the identity of its sweep, so
that parts of two sweeps are never mixed.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from hexsim import __version__, budget
from hexsim.errors import HexsimError
from hexsim.files import clean_tree, outside_transaction, write_bytes
from hexsim.studies.pool import Pool, ranges
from hexsim.studies.sweep.evaluation import row
from hexsim.studies.sweep.points import Points
from hexsim.studies.sweep.settings import settings
from hexsim.studies.sweep.space import Space
from hexsim.studies.sweep.table import FORMAT, as_bytes, columns_of, read, table_of

if TYPE_CHECKING:
    import pyarrow

_SIZE = 32
"""Least number of points in a part: about a second's work, which is lost when a worker dies."""
_MOST = 4096
"""Largest number of parts of a sweep: each costs a file and some milliseconds."""
_IDENTITY = "sweep.json"


@dataclass(frozen=True)
class SweepParts:
    """The folder of one sweep; `points` are divided into ranges of one size."""

    folder: Path
    points: Points

    def open(self) -> None:
        """Create the folder or continue with it; raise HexsimError if it is another sweep's.

        A folder without parts may be overwritten: its sweep ended before its first part.
        """
        identity = json.dumps({"format": FORMAT, "sweep": self._identity}).encode()
        identity_file = self.folder / _IDENTITY
        if not self.folder.exists() or self._has_no_parts():
            self._write(_IDENTITY, identity)
        elif not identity_file.is_file() or identity_file.read_bytes() != identity:
            raise HexsimError(
                f"'{self.folder}' holds the parts of another sweep, or something else; remove it "
                "to start again, or give the output another name"
            )

    def _has_no_parts(self) -> bool:
        """Return True for a folder that holds nothing but perhaps the identity of its sweep."""
        if not self.folder.is_dir():
            return False
        clean_tree(self.folder)
        return {path.name for path in self.folder.iterdir()} <= {_IDENTITY}

    def missing(self) -> list[range]:
        """Return the ranges of points that are not done."""
        return [part for part in self._all() if not self._path(part).exists()]

    def add(self, part: range, table: pyarrow.Table) -> None:
        """Store a part."""
        self._write(self._path(part).name, as_bytes([table], self.points.space, __version__))

    def whole(self) -> bytes:
        """Return the content of a file with all parts."""
        tables = [read(self._path(part)).table for part in self._all()]
        return as_bytes(tables, self.points.space, __version__)

    def finish(self, output: Path) -> None:
        """Write the results, and only then remove the parts."""
        with outside_transaction():
            write_bytes(output, self.whole())
        self.remove()

    def remove(self) -> None:
        """Remove the stored parts and the folder."""
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
        """Hash of space, networks, constants, loads and version, which identifies the sweep."""
        trees = [
            datasheet.tree
            for setting in self.points.settings
            for datasheet in (
                setting.platform.chip,
                setting.platform.stack,
                *setting.loads.values(),
            )
        ]
        sources = [setting.digest for setting in self.points.settings]
        facts = [__version__, self.points.space.model_dump(mode="json"), trees, sources]
        return hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()


def part_points(points: int) -> int:
    """Return the number of points in a part."""
    return max(_SIZE, -(-points // _MOST))


def evaluate(points: Points, first: int, stop: int) -> pyarrow.Table:
    """Simulate the points from `first` to before `stop` as a table; a worker runs this."""
    inferences = points.space.workload.inferences
    return table_of([row(points[number], inferences) for number in range(first, stop)])


def planned(space: Space, output: Path, progress: Callable[[str], None]) -> SweepParts:
    """Plan all settings, and open the folder of parts beside `output`.

    Errors as in `settings` and `SweepParts.open`, and for more points than an answer may have.
    """
    asked = space.count * len(columns_of(space))
    budget.require(budget.SWEPT, asked, f"a space of {space.count} points")
    listed = settings(space, progress)
    points = Points(space.calibrated_with(listed[0].platform.anchor), listed)
    parts = SweepParts(output.with_name(f"{output.name}.parts"), points)
    parts.open()
    return parts


def simulate_parts(pool: Pool, parts: SweepParts, progress: Callable[[int], None]) -> None:
    """Simulate all missing parts, and store each as soon as it is done.

    `progress` gets the number of points done. Raises HexsimError if workers die of a part.
    """
    points, missing = parts.points, parts.missing()
    done = len(points) - sum(map(len, missing))
    progress(done)
    for part, table in pool.in_parts(evaluate, points, missing, "points"):
        parts.add(part, table)
        done += len(part)
        progress(done)
