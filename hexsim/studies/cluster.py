"""Workers that are a dask cluster of the user's, reached through its scheduler.

Only this module opens a connection, to the address that the user names. Anybody who reaches the
scheduler can run code as the user, here and on the workers, unless dask is configured for TLS.
"""

from __future__ import annotations

import asyncio
import logging
import sys
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import CancelledError
from contextlib import contextmanager
from typing import TYPE_CHECKING

from hexsim import __version__
from hexsim.errors import HexsimError, spelled
from hexsim.studies.pool import Answer, Shared, as_here, deadly

if TYPE_CHECKING:
    from distributed import Client

_PATIENCE_S = 15
"""Seconds that a scheduler has to answer."""
_AHEAD = 3
"""Parts that wait at each worker, so that it is never idle."""
_SHARED = "1GiB"
"""Size of shared data, such as weights, up to which the scheduler does not warn."""


@contextmanager
def cluster(scheduler: str) -> Iterator[Cluster]:
    """Yield the workers of the scheduler at an address.

    Raises HexsimError if no scheduler answers, or if workers have another version of hexsim.
    """
    from distributed import Client

    for name in ("distributed", "distributed.client"):  # the second does not inherit the level
        logging.getLogger(name).setLevel(logging.CRITICAL)
    try:
        asyncio.run(_shake_hands(scheduler))
        client = Client(scheduler, timeout=_PATIENCE_S)
    except Exception:  # dask raises many types for a wrong address or a foreign server
        raise HexsimError(
            f"no scheduler answers at '{scheduler}'; give {spelled('scheduler')} the address that "
            "dask scheduler prints, such as tcp://host:8786, or leave it out"
        ) from None
    with client:
        _require_equals(client)
        yield Cluster(client)


async def _shake_hands(address: str) -> None:
    """Connect as dask does, but with a timeout: dask would wait for a foreign server's greeting."""
    from distributed import Security
    from distributed.comm import connect

    how = Security().get_connection_args("client")
    comm = await asyncio.wait_for(connect(address, **how), _PATIENCE_S)
    await comm.close()


class Cluster:
    """A pool (`hexsim.studies.pool`) of a scheduler's workers."""

    def __init__(self, client: Client) -> None:
        self._client = client

    @property
    def description(self) -> str:
        """The address of its dashboard."""
        return f"dashboard {self._client.dashboard_link}"

    @property
    def workers(self) -> int:
        """Number of workers now."""
        return len(self._client.nthreads())

    @property
    def threads(self) -> int:
        """Number of parts that all of them can do at the same time."""
        return sum(self._client.nthreads().values())

    def in_parts(
        self,
        work: Callable[[Shared, int, int], Answer],
        shared: Shared,
        parts: Iterable[range],
        items: str,
    ) -> Iterator[tuple[range, Answer]]:
        """Yield parts and their results, as `hexsim.studies.pool.Pool` says."""
        import dask
        from distributed import KilledWorker, as_completed

        here = as_here(work)
        with _with_scheduler():
            with dask.config.set({"distributed.admin.large-graph-warning-threshold": _SHARED}):
                # Submitted data is computed again if it gets lost.
                shared_data = self._client.submit(_as_it_is, shared, pure=False)
            # Parts go to workers that have the shared data, so every worker needs a copy.
            self._client.replicate(shared_data)
            waiting = iter(parts)
            ranges = {}

            def submit() -> Iterator[object]:
                part = next(waiting, None)
                if part is not None:
                    future = self._client.submit(
                        here, shared_data, part.start, part.stop, pure=False
                    )
                    ranges[future.key] = part
                    yield future

            at_once = _AHEAD * max(1, self.threads)
            running = as_completed([future for _ in range(at_once) for future in submit()])
            for futures in running.batches():
                done = [(ranges.pop(future.key), future) for future in futures]
                running.update([future for _ in done for future in submit()])
                try:
                    # Gathering one result takes as long as gathering all.
                    results = self._client.gather(futures)
                except KilledWorker:
                    failed = (part for part, future in done if future.status == "error")
                    raise deadly(items, next(failed, done[0][0])) from None
                yield from zip((part for part, _ in done), results, strict=True)


@contextmanager
def _with_scheduler() -> Iterator[None]:
    """Raise HexsimError if the scheduler disappears while the block uses it."""
    from distributed.comm import CommClosedError

    try:
        yield
    except (CancelledError, CommClosedError):
        raise HexsimError(
            "the scheduler has gone; start it again, with workers, and repeat the command"
        ) from None


def threads_of_worker() -> int:
    """Return how many parts this dask worker does at once; 1 outside a dask worker."""
    distributed = sys.modules.get("distributed")
    if distributed is None:
        return 1
    try:
        threads: int = distributed.get_worker().state.nthreads
    except ValueError:  # not a dask worker
        return 1
    return threads


def _as_it_is(shared: Shared) -> Shared:
    return shared


def _version() -> str:
    return __version__


def _require_equals(client: Client) -> None:
    try:
        versions = client.run(_version)
    except Exception:  # a worker without hexsim raises many types
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
