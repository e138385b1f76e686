"""Work shared among workers: what they are asked, whoever they are, and the parts it is cut into.

Workers are processes of this machine (`hexsim.studies.processes`) or a dask cluster of the user's
(`hexsim.studies.cluster`). A part of the work is sent to a worker as two numbers, and what all
parts share goes to each worker once. A worker that dies is replaced, and its part is given to
another. Whoever asks for parts must not depend on who did what, or when.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable, Iterator
from typing import Protocol, TypeVar

from hexsim.errors import HexsimError

Shared = TypeVar("Shared")
Found = TypeVar("Found")

KEEPS_MEMORY = {"MALLOC_TRIM_THRESHOLD_": 1 << 30, "MALLOC_MMAP_THRESHOLD_": 1 << 25}
"""A worker's variables. Without them memory goes back to the system after each array, and a picture
of MobileNetV2 has 20 000 page faults (measured: 1.3 times the time)."""


class Pool(Protocol):
    """Workers who wait for parts."""

    @property
    def description(self) -> str:
        """Who they are, for the line that shows the progress."""

    @property
    def workers(self) -> int:
        """How many processes they are."""

    @property
    def threads(self) -> int:
        """How many parts all of them can do at the same time."""

    def in_parts(
        self,
        work: Callable[[Shared, int, int], Found],
        shared: Shared,
        parts: Iterable[range],
        what: str,
    ) -> Iterator[tuple[range, Found]]:
        """Yield each part with what `work` finds of it, given its ends, as soon as it is found.

        `work` is a function of a module. Raises HexsimError if workers die of a part, which holds
        `what`, or if all of them are gone; and whatever `work` raises.
        """


def require_libraries(what: str, *names: str) -> None:
    """Raise HexsimError unless modules are installed, those that `what` needs."""
    try:
        for name in names:
            importlib.import_module(name)
    except ImportError as error:
        why = f"{error.name} is missing" if error.name else str(error)
        raise HexsimError(
            f"{what} {' and '.join(names)} ({why}); install what is needed with: pip install "
            "'hexsim[sweep]'"
        ) from None


def deadly(what: str, part: range) -> HexsimError:
    """What is said of a part of which workers die again and again."""
    return HexsimError(
        f"workers die of the {what} {part.start} to {part.stop - 1}, perhaps for want of memory; "
        f"give fewer --workers, and look at those {what} by themselves"
    )


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
