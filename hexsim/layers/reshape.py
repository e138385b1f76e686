"""Reshape: the same elements in the same stored order under another shape."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from hexsim.errors import InvalidDataError
from hexsim.graph.domains import Sizes
from hexsim.graph.ir import Layer, Network, Shape, Sign
from hexsim.graph.support import EVERYWHERE, HTA, Rule, Support


def _changes_sizes(layer: Reshape, network: Network) -> bool:
    shapes = (network.shape(layer.inputs[0]), layer.shape)
    before, after = ([size for size in shape if size > 1] for shape in shapes)
    return before != after


@dataclass(frozen=True, kw_only=True)
class Reshape(Layer):
    """Flatten, Squeeze, Unsqueeze and Reshape; `shape` is fully known."""

    type: ClassVar[str] = "reshape"
    support: ClassVar[Support] = EVERYWHERE
    sign: ClassVar[Sign] = "as inputs"
    moves_codes: ClassVar[bool] = True
    rearranges: ClassVar[bool] = True
    limits: ClassVar[tuple[Rule, ...]] = (
        Rule(HTA, _changes_sizes, "the HTA takes a reshape only if it adds or drops axes of one"),
    )

    shape: Sizes

    def output_shapes(self, inputs: Sequence[Shape]) -> tuple[Shape, ...]:
        """Return the target shape; InvalidDataError if it has another number of elements."""
        if math.prod(self.shape) != math.prod(inputs[0]):
            raise InvalidDataError(f"cannot reshape {list(inputs[0])} to {list(self.shape)}")
        return (self.shape,)

    def is_no_op(self, inputs: Sequence[Shape]) -> bool:
        """Return whether the shape is unchanged."""
        return self.shape == inputs[0]
