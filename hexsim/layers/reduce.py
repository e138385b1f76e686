"""Reduce: mean, sum, maximum or minimum along stored axes."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

from hexsim.graph.domains import Axes
from hexsim.graph.ir import Layer, Shape, Sign
from hexsim.graph.support import NO_HTA_LAYER, Support

ReduceKind = Literal["mean", "sum", "max", "min"]


@dataclass(frozen=True, kw_only=True)
class Reduce(Layer):
    """One number for all positions of the stored axes `axes`, which stay with size one."""

    type: ClassVar[str] = "reduce"
    support: ClassVar[Support] = NO_HTA_LAYER
    sign: ClassVar[Sign] = "as inputs"

    kind: ReduceKind
    axes: Axes

    def output_shapes(self, inputs: Sequence[Shape]) -> tuple[Shape, ...]:
        """Return the input's shape with ones at the axes."""
        return (tuple(1 if axis in self.axes else n for axis, n in enumerate(inputs[0])),)

    @property
    def moves_codes(self) -> bool:
        """True for a maximum or minimum."""
        return self.kind in ("max", "min")

    def variant(self, inputs: Sequence[Shape]) -> str:
        """Return the kind."""
        return self.kind

    def count(self, source: Shape) -> int:
        """Return how many numbers of an input of shape `source` make one of the output."""
        return math.prod(source[axis] for axis in self.axes)

    def is_no_op(self, inputs: Sequence[Shape]) -> bool:
        """Return whether each result is made of one number."""
        return self.count(inputs[0]) == 1
