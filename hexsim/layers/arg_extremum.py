"""ArgExtremum: where along an axis the largest or smallest number is.

The places are floats, as those that SNPE's ArgMax layer gives on the DSP; who wants integers casts
them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

from hexsim.graph.domains import Axis
from hexsim.graph.ir import Layer, Network, Shape, Sign
from hexsim.graph.support import INTEGER, NO_HTA_LAYER, Rule, Support

_MOST_PLACES = 256
"""Whole numbers that a code of 8 bits tells apart."""


def _beyond_codes(layer: ArgExtremum, network: Network) -> bool:
    return network.shape(layer.inputs[0])[layer.axis] > _MOST_PLACES


@dataclass(frozen=True, kw_only=True)
class ArgExtremum(Layer):
    """The first place of the extremum along stored axis `axis`.

    The axis stays with size one where the layer `keeps_axis`.
    """

    support: ClassVar[Support] = NO_HTA_LAYER
    sign: ClassVar[Sign] = "unsigned"
    moves_codes: ClassVar[bool] = False
    counts: ClassVar[bool] = True
    limits: ClassVar[tuple[Rule, ...]] = (
        Rule(INTEGER, _beyond_codes, "codes of 8 bits tell 256 places along an axis apart"),
    )

    kind: Literal["max", "min"]
    axis: Axis
    keeps_axis: bool = True

    @property
    def type(self) -> str:
        """argmax or argmin."""
        return f"arg{self.kind}"

    def output_shapes(self, inputs: Sequence[Shape]) -> tuple[Shape, ...]:
        """The input's shape, with a one at the axis or without it."""
        (shape,) = inputs
        kept = (1,) if self.keeps_axis else ()
        return ((*shape[: self.axis], *kept, *shape[self.axis + 1 :]),)
