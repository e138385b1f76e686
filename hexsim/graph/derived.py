"""Derived: a constant that conversion made from another one, so that its encoding can follow it."""

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from hexsim.graph.ir import Constant, Shape

Array = npt.NDArray[Any]
ONE = Constant("one", (), np.ones(()))
"""The factor of numbers that nothing multiplied."""


class Derived(Constant):
    """A constant with the numbers of the constant `origin` in another shape or order.

    Conversion may have multiplied them by `factor`, one number or one for each channel; if it is
    None, they were changed otherwise.
    """

    __slots__ = ("factor", "origin")

    def __init__(
        self,
        source: Constant,
        shape: Shape,
        change: Callable[[Array], Array],
        name: str,
        factor: Constant | None = ONE,
    ) -> None:
        super().__init__(name, shape, lambda: change(source.value()), source.dtype)
        self.origin, self.factor = source.name, factor
        if isinstance(source, Derived):
            self.origin, self.factor = source.origin, _product(source.factor, factor)


def _product(first: Constant | None, second: Constant | None) -> Constant | None:
    """Return the factor of two changes, one after the other."""
    if first is None or second is None:
        return None

    def product() -> Array:
        return np.asarray(first.value().reshape(-1) * second.value().reshape(-1))

    return Constant("factor", (max(first.elements, second.elements),), product, first.dtype)
