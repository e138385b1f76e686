"""Elementwise: sum, product, difference, quotient, maximum or minimum of tensors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal, Self

from hexsim.errors import InvalidDataError
from hexsim.graph.domains import LARGEST
from hexsim.graph.ir import Layer, Network, Shape, Sign
from hexsim.graph.support import (
    ACCELERATORS,
    EVERYWHERE,
    NO_HTA_FUNCTION,
    UNDECLARED,
    Rule,
    Support,
)
from hexsim.layers._broadcast import broadcast
from hexsim.layers._clamp import NO_CLAMP, Clamp

ElementwiseKind = Literal["sum", "product", "sub", "div", "max", "min"]

KINDS: Mapping[ElementwiseKind, tuple[Support, Sign]] = {
    "sum": (EVERYWHERE, "as inputs"),
    "product": (EVERYWHERE, "as inputs"),
    "sub": (EVERYWHERE, "signed"),
    "div": (NO_HTA_FUNCTION, "as inputs"),
    "max": (NO_HTA_FUNCTION, "as inputs"),
    "min": (NO_HTA_FUNCTION, "as inputs"),
}
"""The support of each kind, and whether its result may be negative."""


def _constant_only(layer: Elementwise, network: Network) -> bool:
    return not any(name in network.tensors for name in layer.inputs)


@dataclass(frozen=True, kw_only=True)
class Elementwise(Layer):
    """Two or more operands, tensors or constants, broadcast as numpy does in stored order.

    More than two operands are combined from left to right; a quotient has two.
    """

    type: ClassVar[str] = "elementwise_binary_op"
    moves_codes: ClassVar[bool] = False
    operands: ClassVar[tuple[int, int]] = (1, LARGEST)
    limits: ClassVar[tuple[Rule, ...]] = (
        Rule(ACCELERATORS, _constant_only, "an elementwise layer needs an operand that varies"),
    )

    kind: ElementwiseKind
    clamp: Clamp = NO_CLAMP

    def output_shapes(self, inputs: Sequence[Shape]) -> tuple[Shape, ...]:
        """Return the broadcast shape."""
        if self.kind == "div" and len(inputs) != 2:
            raise InvalidDataError(f"a quotient has two operands, not {len(inputs)}")
        return (broadcast(*inputs),)

    @property
    def support(self) -> Support:
        """That of the kind."""
        return KINDS[self.kind][0] if self.kind in KINDS else UNDECLARED

    def variant(self, inputs: Sequence[Shape]) -> str:
        """Return the kind."""
        return self.kind

    @property
    def sign(self) -> Sign:
        """That of the kind."""
        return KINDS[self.kind][1] if self.kind in KINDS else "signed"

    def turned(self) -> Self:
        """Return itself."""
        return self
