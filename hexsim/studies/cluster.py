"""Work shared among workers: processes of this machine, or a cluster of the user's.

A part of the work is sent to a worker as two numbers, and what all parts share goes to each worker
once. A worker that dies is replaced, and its part is given to another. Whoever asks for parts must
not depend on who did what, or when.
"""

from __future__ import annotations

import asyncio
import importlib
import logging
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import CancelledError
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeVar

from hexsim import __version__
from hexsim.errors import HexsimError

if TYPE_CHECKING:
    from distributed import Client

Shared = TypeVar("Shared")
Found = TypeVar("Found")

_PATIENCE_S = 15
"""Seconds that a scheduler has to answer."""
_AHEAD = 3
"""Parts that wait at each worker, so that none is ever without work."""
_KEEPS_MEMORY = {"MALLOC_TRIM_THRESHOLD_": 1 << 30, "MALLOC_MMAP_THRESHOLD_": 1 << 25}
"""A worker's variables. As dask sets them, memory goes back to the system after each array, and a
picture of MobileNetV2 has 20 000 page faults (measured: 1.3 times the time)."""
_SHARED = "1GiB"
"""Up to here the scheduler takes what is shared without a warning: the weights of a network."""


def require_libraries(what: str, *names: str) -> None:
    """Raise HexsimError unless modules are installed, those that `what` needs."""
    try:
        for name in names:
            importlib.import_module(name)
    except ImportError as error:
        why = f"{error.name} is missing" if error.name else str(error)
        raise HexsimError(
            f"{what} {' and '.join(names)} ({why}); install what they need with: pip install "
            "'hexsim[sweep]'"
        ) from None


@contextmanager
def workers(scheduler: str | None, count: int) -> Iterator[Client]:
    """Yield a client of the scheduler at an address or, without one, of `count` own processes.

    Raises HexsimError if nobody answers, or if workers have another hexsim.
    """
    import dask
    from distributed import Client, LocalCluster

    if scheduler is None:
        with (
            dask.config.set({"distributed.nanny.pre-spawn-environ": _KEEPS_MEMORY}),
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
        yield client


async def _shake_hands(address: str) -> None:
    """Connect as dask does, but with an end: of what is no scheduler it awaits a greeting."""
    from distributed import Security
    from distributed.comm import connect

    how = Security().get_connection_args("client")
    comm = await asyncio.wait_for(connect(address, **how), _PATIENCE_S)
    await comm.close()


def in_parts(
    client: Client,
    work: Callable[[Shared, int, int], Found],
    shared: Shared,
    parts: Iterable[range],
    what: str,
) -> Iterator[tuple[range, Found]]:
    """Yield each part with what `work` finds of it, given its ends, as soon as it is found.

    Raises HexsimError if workers die of a part, which holds `what`, or if the scheduler goes; and
    whatever `work` raises.
    """
    import dask
    from distributed import KilledWorker, as_completed

    with _with_scheduler():
        with dask.config.set({"distributed.admin.large-graph-warning-threshold": _SHARED}):
            held = client.submit(_as_it_is, shared, pure=False)  # done again if it gets lost
        # Parts go to where what they share is, and would leave all others without work at first.
        client.replicate(held)
        waiting = iter(parts)
        ranges = {}

        def submit() -> Iterator[object]:
            part = next(waiting, None)
            if part is not None:
                future = client.submit(work, held, part.start, part.stop, pure=False)
                ranges[future.key] = part
                yield future

        at_once = _AHEAD * max(1, threads(client))
        running = as_completed([future for _ in range(at_once) for future in submit()])
        for futures in running.batches():
            done = [(ranges.pop(future.key), future) for future in futures]
            running.update([future for _ in done for future in submit()])
            try:
                found = client.gather(futures)  # asking for each by itself takes as long as for all
            except KilledWorker:
                part = next((one for one, future in done if future.status == "error"), done[0][0])
                raise HexsimError(
                    f"workers die of the {what} {part.start} to {part.stop - 1}, perhaps for want "
                    f"of memory; give fewer --workers, and look at those {what} by themselves"
                ) from None
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


def in_order(found: Iterable[tuple[range, Found]]) -> Iterator[tuple[range, Found]]:
    """Yield parts that come as they are found in the order of their numbers, from 0 on."""
    early, next_one = {}, 0
    for part, one in found:
        early[part.start] = part, one
        while next_one in early:
            yield early[next_one]
            next_one = early.pop(next_one)[0].stop


def ranges(count: int, size: int) -> Iterator[range]:
    """Cut `count` things into parts of a size."""
    return (range(first, min(first + size, count)) for first in range(0, count, size))


def threads(client: Client) -> int:
    """How many parts all workers can do at the same time."""
    return sum(client.nthreads().values())


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
