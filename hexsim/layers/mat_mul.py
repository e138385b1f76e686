"""MatMul: the product of two matrices, or of two batches of matrices, that are operands."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from hexsim.errors import InvalidDataError
from hexsim.graph.domains import Real
from hexsim.graph.ir import Layer, Shape, Sign
from hexsim.graph.support import NO_HTA_LAYER, Support
from hexsim.layers._broadcast import broadcast
from hexsim.layers._clamp import NO_CLAMP, Clamp


@dataclass(frozen=True, kw_only=True)
class MatMul(Layer):
    """`alpha` times (..., M, K) by (..., K, N), batches broadcast as numpy does.

    If the second operand is `transposed`, it is (..., N, K) as it is stored. A matrix of constant
    weights on the right is a FullyConnected layer.
    """

    type: ClassVar[str] = "matmul"
    support: ClassVar[Support] = NO_HTA_LAYER
    moves_codes: ClassVar[bool] = False
    operands: ClassVar[tuple[int, int]] = (2, 2)

    transposed: bool = False
    alpha: Real = 1.0
    clamp: Clamp = NO_CLAMP

    @property
    def sign(self) -> Sign:
        """That of the inputs, unless the factor changes it."""
        return "signed" if self.alpha < 0 else "as inputs"

    def output_shapes(self, inputs: Sequence[Shape]) -> tuple[Shape, ...]:
        """Return (..., M, N)."""
        first, second = inputs
        if min(len(first), len(second)) < 2 or first[-1] != second[-1 if self.transposed else -2]:
            raise InvalidDataError(f"matrices of the shapes {first} and {second} have no product")
        columns = second[-2] if self.transposed else second[-1]
        return ((*broadcast(first[:-2], second[:-2]), first[-2], columns),)

    def macs(self, inputs: Sequence[Shape], outputs: Sequence[Shape]) -> int:
        """Return K for each element of the result."""
        return math.prod(outputs[0]) * inputs[0][-1]
