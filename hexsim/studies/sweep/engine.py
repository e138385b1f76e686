"""Points simulated by workers (`hexsim.studies.cluster`); it does not matter by which."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from hexsim.studies.cluster import in_parts
from hexsim.studies.sweep.evaluation import row
from hexsim.studies.sweep.parts import Parts
from hexsim.studies.sweep.points import Points
from hexsim.studies.sweep.table import table_of

if TYPE_CHECKING:
    import pyarrow
    from distributed import Client


def evaluate(points: Points, first: int, stop: int) -> pyarrow.Table:
    """Simulate the points from `first` on, as a table; what a worker does."""
    inferences = points.space.workload.inferences
    return table_of([row(points[number], inferences) for number in range(first, stop)])


def simulate_parts(
    client: Client, points: Points, parts: Parts, progress: Callable[[int], None]
) -> None:
    """Simulate all parts that are missing, and keep each as soon as it is done.

    `progress` is told how many points are done. Raises HexsimError if workers die of a part.
    """
    missing = parts.missing()
    done = len(points) - sum(map(len, missing))
    progress(done)
    for part, table in in_parts(client, evaluate, points, missing, "points"):
        parts.add(part, table)
        done += len(part)
        progress(done)
