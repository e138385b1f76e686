"""Filters that are promised, and what their layer's bias or batch norm asks of them.

Drawing is dear and a statistic is small. So whoever reads the weight first finds the statistics
as well, and nothing is drawn a second time for them.
"""

from __future__ import annotations

import threading
from collections.abc import Callable

from ._moments import Moments
from ._weights import FloatArray


class Filters:
    """The weight of one layer on a tensor with the moments `before`; `draw` makes it.

    `coverage` is that of `Moments.response_mean`.
    """

    def __init__(
        self, draw: Callable[[], FloatArray], before: Moments, groups: int, coverage: FloatArray
    ) -> None:
        self._draw = draw
        self._ask: dict[str, Callable[[FloatArray], FloatArray]] = {
            "mean": lambda weight: before.response_mean(weight, groups, coverage),
            "variance": lambda weight: before.response_variance(weight, groups),
        }
        self._wanted: set[str] = set()
        self._known: dict[str, FloatArray] = {}
        self._drawing = threading.RLock()

    def weight(self) -> FloatArray:
        """Draw the weight, and note what was promised of it; one thread at a time."""
        with self._drawing:
            weight = self._draw()
            for what in self._wanted - self._known.keys():
                self._known[what] = self._ask[what](weight)
            return weight

    def promised(self, what: str) -> Callable[[], FloatArray]:
        """A function that returns the "mean" or "variance" of each output of the layer."""
        self._wanted.add(what)

        def answer() -> FloatArray:
            with self._drawing:
                if what not in self._known:
                    self.weight()
                return self._known[what]

        return answer
