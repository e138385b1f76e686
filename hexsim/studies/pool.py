"""The interface of a pool of workers, and the parts into which work is divided.

Workers are processes of this machine (`hexsim.studies.processes`) or a dask cluster of the user's
(`hexsim.studies.cluster`). A part of the work is sent to a worker as two numbers, and the data that
all parts share once. A worker that dies is replaced, and another one does its part. Callers must
not depend on which worker did a part, or when.
"""

import importlib
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Protocol, TypeVar

from hexsim.errors import HexsimError, Spelling, spelled, spelling, spelling_as
from hexsim.texts.extras import missing

Shared = TypeVar("Shared")
Answer = TypeVar("Answer")

KEEPS_MEMORY = {"MALLOC_TRIM_THRESHOLD_": 1 << 30, "MALLOC_MMAP_THRESHOLD_": 1 << 25}
"""Environment variables of workers. Without them memory is returned to the system after each array,
and an inference of MobileNetV2 has 20 000 page faults (measured: 1.3 times the time)."""


class Pool(Protocol):
    """Workers that wait for parts."""

    @property
    def description(self) -> str:
        """Their description for the progress line."""

    @property
    def workers(self) -> int:
        """Number of processes."""

    @property
    def threads(self) -> int:
        """Number of parts that all of them can do at the same time."""

    def in_parts(
        self,
        work: Callable[[Shared, int, int], Answer],
        shared: Shared,
        parts: Iterable[range],
        items: str,
    ) -> Iterator[tuple[range, Answer]]:
        """Yield each part with the result of `work` for its start and stop, as soon as it is done.

        `work` is a function of a module; `items` says what the numbers of a part count. Raises
        HexsimError if workers die of a part or if all of them are gone, and whatever `work` raises.
        """


def require_libraries(user: str, *names: str) -> None:
    """Raise HexsimError unless the modules `names` are installed, which `user` needs."""
    try:
        for name in names:
            importlib.import_module(name)
    except ImportError as error:
        why = f"{error.name} is missing" if error.name else str(error)
        raise missing(f"{user} {' and '.join(names)} ({why})", "sweep") from None


def as_here(work: Callable[[Shared, int, int], Answer]) -> Callable[[Shared, int, int], Answer]:
    """Return `work` for other processes, whose sentences then spell parameters as those here."""
    return partial(_spelling_as, spelling(), work)


def _spelling_as(
    how: Spelling, work: Callable[[Shared, int, int], Answer], shared: Shared, first: int, end: int
) -> Answer:
    with spelling_as(how):
        return work(shared, first, end)


def deadly(items: str, part: range) -> HexsimError:
    """Return the error for a part of which workers die again and again."""
    return HexsimError(
        f"workers die of the {items} {part.start} to {part.stop - 1}, perhaps for lack of memory; "
        f"give fewer {spelled('workers')}, and try those {items} alone"
    )


def in_order(results: Iterable[tuple[range, Answer]]) -> Iterator[tuple[range, Answer]]:
    """Yield parts that arrive in any order in the order of their numbers, from 0 on."""
    early, next_start = {}, 0
    for part, result in results:
        early[part.start] = part, result
        while next_start in early:
            yield early[next_start]
            next_start = early.pop(next_start)[0].stop


def ranges(count: int, size: int) -> Iterator[range]:
    """Divide `count` items into parts of a size."""
    return (range(first, min(first + size, count)) for first in range(0, count, size))
