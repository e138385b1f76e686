"""FullyConnected: a matrix applied to the flattened input."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from hexsim.graph.domains import Positive
from hexsim.graph.ir import ANY_BUT_SCALAR, Layer, NamedShapes, Shape, Sign
from hexsim.graph.support import EVERYWHERE, Support
from hexsim.layers._clamp import NO_CLAMP, Clamp
from hexsim.layers._parameters import of_channels


@dataclass(frozen=True, kw_only=True)
class FullyConnected(Layer):
    """Flattens the axes after axis 0, in stored order, and multiplies by `weight`.

    `weight` is (inputs, outputs), its last axis the output channel; `bias` is (outputs,) or None.
    """

    type: ClassVar[str] = "fully_connected"
    support: ClassVar[Support] = EVERYWHERE
    sign: ClassVar[Sign] = "signed"
    moves_codes: ClassVar[bool] = False
    ranks: ClassVar[tuple[int, ...]] = ANY_BUT_SCALAR

    weight: str
    bias: str | None = None
    clamp: Clamp = NO_CLAMP
    output_channels: Positive

    def output_shapes(self, inputs: Sequence[Shape]) -> tuple[Shape, ...]:
        """Return (N, output channels)."""
        return ((inputs[0][0], self.output_channels),)

    def macs(self, inputs: Sequence[Shape], outputs: Sequence[Shape]) -> int:
        """Return inputs times outputs, per batch item."""
        return math.prod(inputs[0]) * self.output_channels

    def parameter_shapes(self, inputs: Sequence[Shape]) -> NamedShapes:
        """See the class."""
        weight = (math.prod(inputs[0][1:]), self.output_channels)
        return of_channels(weight, self.weight, (self.bias,))

    @property
    def parameters(self) -> tuple[str, ...]:
        """Weight, then bias."""
        return (self.weight,) if self.bias is None else (self.weight, self.bias)
