"""Results of parts of one run, kept in memory by what they are made of."""

from collections import deque
from collections.abc import Callable
from typing import Generic, TypeVar

Source = TypeVar("Source")
Result = TypeVar("Result")


class Remembered(Generic[Source, Result]):
    """The last `most` results, by default all; equal sources have one result."""

    def __init__(self, most: int | None = None) -> None:
        self._known: deque[tuple[Source, Result]] = deque(maxlen=most)

    def part(self, made_of: Source, make: Callable[[], Result]) -> Result:
        """Return the result for `made_of`, from `make` the first time."""
        for known, result in self._known:
            if known == made_of:
                return result
        result = make()
        self._known.append((made_of, result))
        return result
