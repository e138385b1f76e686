"""Draws shared out among workers: times are those of one process, to the bit.

A worker gets the platform and the workload once, without weights, and draws its part itself.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import chain

from hexsim.deployment.platform import Platform
from hexsim.simulation.simulator import Workload
from hexsim.studies.draws import DrawnTimes, drawn, draws
from hexsim.studies.pool import Pool, in_order, ranges
from hexsim.studies.uncertainty import Times

_LARGEST = 50
"""Draws of a part at most: some seconds, which is what a worker's death costs."""
_PARTS = 4
"""Parts for each worker at least, as far as there are draws, so that all end together."""


@dataclass(frozen=True)
class _SharedDraws:
    """What all parts share."""

    platform: Platform
    workload: Workload
    count: int


def drawn_by(pool: Pool, platform: Platform, count: int, workload: Workload) -> DrawnTimes:
    """Simulate a workload on `count` drawn platforms, by the workers of a pool.

    Raises HexsimError if workers die of some draws.
    """
    jobs = tuple(replace(job, plan=job.plan.without_values()) for job in workload.jobs)
    asked = _SharedDraws(platform, replace(workload, jobs=jobs), count)
    size = min(_LARGEST, max(1, count // (_PARTS * max(1, pool.threads))))
    found = pool.in_parts(_timed, asked, ranges(count, size), "draws")
    return DrawnTimes(tuple(chain.from_iterable(times for _, times in in_order(found))))


def _timed(asked: _SharedDraws, first: int, stop: int) -> tuple[Times, ...]:
    """What a worker does."""
    platforms = draws(asked.platform, asked.count, slice(first, stop))
    return drawn(platforms, lambda changed: changed.simulate(asked.workload)).times
