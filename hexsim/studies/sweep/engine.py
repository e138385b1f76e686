"""Simulate points by the workers of a pool (`hexsim.studies.pool`)."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from hexsim.studies.pool import Pool
from hexsim.studies.sweep.evaluation import row
from hexsim.studies.sweep.parts import SweepParts
from hexsim.studies.sweep.points import Points
from hexsim.studies.sweep.table import table_of

if TYPE_CHECKING:
    import pyarrow


def evaluate(points: Points, first: int, stop: int) -> pyarrow.Table:
    """Simulate the points from `first` to before `stop` as a table; a worker runs this."""
    inferences = points.space.workload.inferences
    return table_of([row(points[number], inferences) for number in range(first, stop)])


def simulate_parts(
    pool: Pool, points: Points, parts: SweepParts, progress: Callable[[int], None]
) -> None:
    """Simulate all missing parts, and store each as soon as it is done.

    `progress` gets the number of points done. Raises HexsimError if workers die of a part.
    """
    missing = parts.missing()
    done = len(points) - sum(map(len, missing))
    progress(done)
    for part, table in pool.in_parts(evaluate, points, missing, "points"):
        parts.add(part, table)
        done += len(part)
        progress(done)
