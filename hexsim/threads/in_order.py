"""Work on a list, some of it side by side, that looks as if one thing were done after the other.

Results come in the order of the list. What goes wrong with an item, or with reading it, is raised
in its place, when all before it are out. Read ahead are no more items than there are execution
contexts, and one.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from queue import SimpleQueue
from typing import Generic, TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")


def side_by_side(
    items: Iterable[Item],
    single: Callable[[Item], Result],
    contexts: Callable[[], Sequence[Callable[[Item], Result]]],
) -> Iterator[Result]:
    """Yield what is made of each item.

    `single` makes it of an item that is the only one. Of several each is made by one of `contexts`,
    in a thread of its own, one at a time in each execution context.
    """
    given = _Given(items)
    if not given.has_one():
        given.raise_what_went_wrong()
        return
    first = given.next()
    if not given.has_one():
        yield single(first)
        given.raise_what_went_wrong()
        return
    places = contexts()
    free: SimpleQueue[Callable[[Item], Result]] = SimpleQueue()
    for place in places:
        free.put(place)

    def in_context(item: Item) -> Result:
        place = free.get()
        try:
            return place(item)
        finally:
            free.put(place)

    threads = ThreadPoolExecutor(len(places), thread_name_prefix="hexsim-seat")
    try:
        waiting = deque([threads.submit(in_context, first)])
        while waiting:
            while len(waiting) <= len(places) and given.has_one():
                waiting.append(threads.submit(in_context, given.next()))
            yield _next(waiting)
    finally:
        threads.shutdown(cancel_futures=True)  # after an error, or when nobody asks any more
    given.raise_what_went_wrong()


def _next(waiting: deque[Future[Result]]) -> Result:
    """The result that is first in the row, which is then held by nobody here."""
    return waiting.popleft().result()


class _Given(Generic[Item]):
    """Items that are read one by one, and whatever ends them, which is kept for its turn."""

    def __init__(self, items: Iterable[Item]) -> None:
        self._items = iter(items)
        self._read: list[Item] = []
        self._error: Exception | None = None
        self._ended = False

    def has_one(self) -> bool:
        """True if there is a next one, which is then read."""
        if not self._read and not self._ended:
            try:
                self._read.append(next(self._items))
            except StopIteration:
                self._ended = True
            except Exception as error:
                self._error, self._ended = error, True
        return bool(self._read)

    def next(self) -> Item:
        """The next one, of which `has_one` knows."""
        return self._read.pop()

    def raise_what_went_wrong(self) -> None:
        """Raise what ended the items, unless that was their end."""
        if self._error is not None:
            raise self._error
