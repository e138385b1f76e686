"""Workers that are a dask cluster of the user's, reached through its scheduler.

This alone opens a connection, to the address that the user names. Whoever reaches the scheduler
runs code as the user, here and where the workers are, unless dask's own configuration asks for TLS.
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
from hexsim.errors import HexsimError
from hexsim.studies.pool import Found, Shared, deadly

if TYPE_CHECKING:
    from distributed import Client

_PATIENCE_S = 15
"""Seconds that a scheduler has to answer."""
_AHEAD = 3
"""Parts that wait at each worker, so that none is ever without work."""
_SHARED = "1GiB"
"""Up to here the scheduler takes what is shared without a warning: the weights of a network."""


@contextmanager
def cluster(scheduler: str) -> Iterator[Cluster]:
    """Yield the workers of the scheduler at an address.

    Raises HexsimError if nobody answers, or if workers have another hexsim.
    """
    from distributed import Client

    for name in ("distributed", "distributed.client"):  # the second does not ask the first
        logging.getLogger(name).setLevel(logging.CRITICAL)
    try:
        asyncio.run(_shake_hands(scheduler))
        client = Client(scheduler, timeout=_PATIENCE_S)
    except Exception:  # whatever dask makes of an address, or of what it hears there
        raise HexsimError(
            f"no scheduler answers at '{scheduler}'; give --scheduler the address that dask "
            "scheduler prints, such as tcp://host:8786, or leave it out"
        ) from None
    with client:
        _require_equals(client)
        yield Cluster(client)


async def _shake_hands(address: str) -> None:
    """Connect as dask does, but with an end: of what is no scheduler it awaits a greeting."""
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
        """Where its dashboard is."""
        return f"dashboard {self._client.dashboard_link}"

    @property
    def workers(self) -> int:
        """How many there are now."""
        return len(self._client.nthreads())

    @property
    def threads(self) -> int:
        """How many parts all of them can do at the same time."""
        return sum(self._client.nthreads().values())

    def in_parts(
        self,
        work: Callable[[Shared, int, int], Found],
        shared: Shared,
        parts: Iterable[range],
        what: str,
    ) -> Iterator[tuple[range, Found]]:
        """Yield parts and what is found of them, as `hexsim.studies.pool.Pool` says."""
        import dask
        from distributed import KilledWorker, as_completed

        with _with_scheduler():
            with dask.config.set({"distributed.admin.large-graph-warning-threshold": _SHARED}):
                # Submitted, it is done again if it gets lost.
                held = self._client.submit(_as_it_is, shared, pure=False)
            # Parts go to where what they share is, which would leave all others without work.
            self._client.replicate(held)
            waiting = iter(parts)
            ranges = {}

            def submit() -> Iterator[object]:
                part = next(waiting, None)
                if part is not None:
                    future = self._client.submit(work, held, part.start, part.stop, pure=False)
                    ranges[future.key] = part
                    yield future

            at_once = _AHEAD * max(1, self.threads)
            running = as_completed([future for _ in range(at_once) for future in submit()])
            for futures in running.batches():
                done = [(ranges.pop(future.key), future) for future in futures]
                running.update([future for _ in done for future in submit()])
                try:
                    # Asking for each by itself takes as long as for all.
                    found = self._client.gather(futures)
                except KilledWorker:
                    failed = (one for one, future in done if future.status == "error")
                    raise deadly(what, next(failed, done[0][0])) from None
                yield from zip((one for one, _ in done), found, strict=True)


@contextmanager
def _with_scheduler() -> Iterator[None]:
    """Raise HexsimError if the scheduler goes while the block asks it for something."""
    from distributed.comm import CommClosedError

    try:
        yield
    except (CancelledError, CommClosedError):
        raise HexsimError(
            "the scheduler has gone; start it anew, with workers, and call the command again"
        ) from None


def threads_of_worker() -> int:
    """How many parts the worker that this runs in does at once; 1 in a process of our own."""
    distributed = sys.modules.get("distributed")
    if distributed is None:
        return 1
    try:
        found: int = distributed.get_worker().state.nthreads
    except ValueError:  # this is no worker of dask
        return 1
    return found


def _as_it_is(shared: Shared) -> Shared:
    return shared


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
