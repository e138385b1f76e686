"""Draws divided among workers: times are bit for bit those of one process.

A worker gets the platform and the workload once, without weights, and draws its part itself.
"""

from dataclasses import dataclass, replace
from itertools import chain

from hexsim.deployment.platform import Platform
from hexsim.simulation.simulator import Workload
from hexsim.studies.draws import DrawnTimes, drawn, draws
from hexsim.studies.pool import Pool, in_order, ranges
from hexsim.studies.uncertainty import Times

_LARGEST = 50
"""Largest number of draws in a part: some seconds, which are lost when a worker dies."""
_PARTS = 4
"""Least number of parts for each worker, if there are enough draws, so that all end together."""


@dataclass(frozen=True)
class _SharedDraws:
    """The data that all parts share."""

    platform: Platform
    workload: Workload
    count: int


def drawn_by(pool: Pool, platform: Platform, count: int, workload: Workload) -> DrawnTimes:
    """Simulate a workload on `count` drawn platforms, by the workers of a pool.

    Raises HexsimError if workers die of some draws.
    """
    jobs = tuple(replace(job, plan=job.plan.without_values()) for job in workload.jobs)
    shared = _SharedDraws(platform, replace(workload, jobs=jobs), count)
    size = min(_LARGEST, max(1, count // (_PARTS * max(1, pool.threads))))
    parts = pool.in_parts(_timed, shared, ranges(count, size), "draws")
    return DrawnTimes(tuple(chain.from_iterable(times for _, times in in_order(parts))))


def _timed(shared: _SharedDraws, first: int, stop: int) -> tuple[Times, ...]:
    """Simulate a part; a worker runs this."""
    platforms = draws(shared.platform, shared.count, slice(first, stop))
    return drawn(platforms, lambda changed: changed.simulate(shared.workload)).times
