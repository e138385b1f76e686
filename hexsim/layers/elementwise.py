"""Elementwise: sum, product, difference, maximum or minimum of tensors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from hexsim.graph.ir import Layer, Shape
from hexsim.layers._clamp import NO_CLAMP, Clamp

ElementwiseKind = Literal["sum", "product", "sub", "max", "min"]


@dataclass(frozen=True, kw_only=True)
class Elementwise(Layer):
    """Two or more operands, tensors or constants, broadcast as numpy does in stored order.

    More than two operands are combined from left to right.
    """

    type: ClassVar[str] = "elementwise_binary_op"

    kind: ElementwiseKind
    clamp: Clamp = NO_CLAMP

    def output_shapes(self, inputs: Sequence[Shape]) -> tuple[Shape, ...]:
        """The broadcast shape."""
        return (np.broadcast_shapes(*inputs),)
