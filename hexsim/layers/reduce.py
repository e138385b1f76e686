"""Reduce: mean, sum, maximum or minimum along stored axes.

ArgExtremum: the position of the largest or smallest number along an axis.

Positions are floats, as in SNPE's ArgMax layer on the DSP; a Cast makes integers of them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import ClassVar, Literal

from hexsim.graph.domains import Axes, Axis
from hexsim.graph.ir import Layer, Network, Shape, Sign
from hexsim.graph.support import EVERYWHERE, HTA, INTEGER, NO_HTA_LAYER, Limit, Support
from hexsim.records import dataclass

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


_MOST_POSITIONS = 256
"""The number of positions that codes of 8 bits can represent."""


def _smallest(layer: ArgExtremum, network: Network) -> bool:
    return layer.kind == "min"


def _beyond_codes(layer: ArgExtremum, network: Network) -> bool:
    return network.shape(layer.inputs[0])[layer.axis] > _MOST_POSITIONS


@dataclass(frozen=True, kw_only=True)
class ArgExtremum(Layer):
    """The first position of the extremum along stored axis `axis`.

    With `keeps_axis` the axis remains with size one.
    """

    support: ClassVar[Support] = EVERYWHERE
    sign: ClassVar[Sign] = "unsigned"
    moves_codes: ClassVar[bool] = False
    counts: ClassVar[bool] = True
    limits: ClassVar[tuple[Limit, ...]] = (
        Limit(HTA, _smallest, "the QNN HTA back end has argmax and no argmin"),
        Limit(INTEGER, _beyond_codes, "codes of 8 bits tell 256 places along an axis apart"),
    )

    kind: Literal["max", "min"]
    axis: Axis
    keeps_axis: bool = True

    @property
    def type(self) -> str:
        """argmax or argmin."""
        return f"arg{self.kind}"

    def output_shapes(self, inputs: Sequence[Shape]) -> tuple[Shape, ...]:
        """Return the input's shape, with a one at the axis or without it."""
        (shape,) = inputs
        axis_shape = (1,) if self.keeps_axis else ()
        return ((*shape[: self.axis], *axis_shape, *shape[self.axis + 1 :]),)
