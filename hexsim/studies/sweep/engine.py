"""Points simulated by workers: processes of this machine, or a cluster of the user's.

A part of the space is sent to a worker as two numbers; what all parts share goes to each worker
once. A worker that dies is replaced, and its part is given to another. The answer does not depend
on who simulated what, or when.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from hexsim import __version__
from hexsim.errors import HexsimError
from hexsim.studies.sweep.evaluation import row
from hexsim.studies.sweep.parts import Parts
from hexsim.studies.sweep.points import Points
from hexsim.studies.sweep.table import table_of

if TYPE_CHECKING:
    import pyarrow
    from distributed import Client

_PATIENCE_S = 15
"""Seconds that a scheduler has to answer."""
_AHEAD = 3
"""Parts that wait at each worker, so that none is ever without work."""


def evaluate(points: Points, first: int, stop: int) -> pyarrow.Table:
    """Simulate the points from `first` on, as a table; what a worker does."""
    inferences = points.space.workload.inferences
    return table_of([row(points[number], inferences) for number in range(first, stop)])


@contextmanager
def workers(scheduler: str | None, count: int) -> Iterator[Client]:
    """Yield a client of the scheduler at an address or, without one, of `count` own processes.

    Raises HexsimError if nobody answers, or if workers have another hexsim.
    """
    from distributed import Client, LocalCluster

    if scheduler is None:
        with (
            LocalCluster(
                n_workers=count,
                threads_per_worker=1,
                host="127.0.0.1",
                dashboard_address="127.0.0.1:0",
                silence_logs=logging.CRITICAL,
            ) as cluster,
            Client(cluster) as client,
        ):
            yield client
        return
    try:
        client = Client(scheduler, timeout=_PATIENCE_S)
    except (OSError, ValueError):
        raise HexsimError(
            f"no scheduler answers at '{scheduler}'; give --scheduler the address that dask "
            "scheduler prints, such as tcp://host:8786, or leave it out"
        ) from None
    with client:
        _require_equals(client)
        yield client


def simulate_parts(
    client: Client, points: Points, parts: Parts, progress: Callable[[int], None]
) -> None:
    """Simulate all parts that are missing, and keep each as soon as it is done.

    `progress` is told how many points are done. Raises HexsimError if workers die of a part.
    """
    from distributed import KilledWorker, as_completed

    missing = parts.missing()
    done = len(points) - sum(map(len, missing))
    progress(done)
    shared = client.submit(_as_it_is, points, pure=False)  # a task is done again if it gets lost
    waiting = iter(missing)
    ranges = {}

    def submit() -> Iterator[object]:
        part = next(waiting, None)
        if part is not None:
            future = client.submit(evaluate, shared, part.start, part.stop, pure=False)
            ranges[future.key] = part
            yield future

    at_once = _AHEAD * max(1, len(client.scheduler_info()["workers"]))
    running = as_completed([future for _ in range(at_once) for future in submit()])
    for future in running:
        part = ranges.pop(future.key)
        try:
            parts.add(part, future.result())
        except KilledWorker:
            raise HexsimError(
                f"workers die of the points {part.start} to {part.stop - 1}, perhaps for want of "
                "memory; give fewer --workers, and look at those points by themselves"
            ) from None
        done += len(part)
        progress(done)
        running.update(submit())


def _as_it_is(points: Points) -> Points:
    return points


def _version() -> str:
    return __version__


def _require_equals(client: Client) -> None:
    try:
        versions = client.run(_version)
    except Exception:  # whatever a foreign worker makes of a function that it does not know
        raise HexsimError(
            "the workers cannot load hexsim; install the same version where they run"
        ) from None
    if not versions:
        raise HexsimError("the scheduler has no workers; start some with: dask worker ADDRESS")
    for address, version in versions.items():
        if version != __version__:
            raise HexsimError(
                f"the worker at {address} has hexsim {version} and this is {__version__}; install "
                "the same version everywhere"
            )
