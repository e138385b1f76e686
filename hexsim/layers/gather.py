"""Gather: positions of one axis in any order, known before the network runs.

Computed positions are integer tensors, which no integer runtime supports: such a node stays opaque.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from hexsim.errors import InvalidDataError
from hexsim.graph.domains import Axis, Natural
from hexsim.graph.ir import Layer, Shape, Sign
from hexsim.graph.support import NO_HTA_LAYER, Support


@dataclass(frozen=True, kw_only=True)
class Gather(Layer):
    """Position i of stored axis `axis` is position `indices[i]` of the input (not negative)."""

    type: ClassVar[str] = "gather"
    support: ClassVar[Support] = NO_HTA_LAYER
    sign: ClassVar[Sign] = "as inputs"
    moves_codes: ClassVar[bool] = True

    axis: Axis
    indices: tuple[Natural, ...]

    def output_shapes(self, inputs: Sequence[Shape]) -> tuple[Shape, ...]:
        """Return the shape with as many positions; InvalidDataError if one is beyond the axis."""
        shape = list(inputs[0])
        if max(self.indices, default=0) >= shape[self.axis]:
            raise InvalidDataError(
                f"position {max(self.indices)} asked of axis {self.axis} of {shape}"
            )
        shape[self.axis] = len(self.indices)
        return (tuple(shape),)

    def is_no_op(self, inputs: Sequence[Shape]) -> bool:
        """Return whether it takes all positions in order."""
        return self.indices == tuple(range(inputs[0][self.axis]))
