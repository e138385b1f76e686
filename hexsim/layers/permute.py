"""Permute: stored axes in another order."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from hexsim.graph.domains import AxisOrder
from hexsim.graph.ir import Layer, Shape, Sign
from hexsim.graph.support import NO_HTA_LAYER, Support


@dataclass(frozen=True, kw_only=True)
class Permute(Layer):
    """Output axis i is input axis `permutation[i]`, both stored axes.

    A transpose of the ONNX file, or a change of axis order that the layers around it need.
    """

    type: ClassVar[str] = "permute"
    support: ClassVar[Support] = NO_HTA_LAYER
    sign: ClassVar[Sign] = "as inputs"
    moves_codes: ClassVar[bool] = True
    rearranges: ClassVar[bool] = True

    permutation: AxisOrder

    def output_shapes(self, inputs: Sequence[Shape]) -> tuple[Shape, ...]:
        """Return the permuted shape."""
        return (tuple(inputs[0][axis] for axis in self.permutation),)

    def is_no_op(self, inputs: Sequence[Shape]) -> bool:
        """Return whether the order is unchanged."""
        return self.permutation == tuple(range(len(self.permutation)))
