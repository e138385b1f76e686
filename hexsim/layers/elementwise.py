"""Layers element by element: Elementwise, Neuron, Prelu, and Convert between encodings."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import ClassVar, Literal, Self

import numpy as np

from hexsim.errors import InvalidDataError
from hexsim.graph.domains import LARGEST
from hexsim.graph.domains import Real as Finite
from hexsim.graph.ir import ANY_BUT_SCALAR, Layer, NamedShapes, Network, Shape, Sign
from hexsim.graph.support import (
    ACCELERATORS,
    EVERYWHERE,
    HTA,
    NO_HTA_FUNCTION,
    NO_HTA_LAYER,
    UNDECLARED,
    Limit,
    Support,
)
from hexsim.layers._bases import NO_CLAMP, Clamp, PerPixel, broadcast
from hexsim.layers._functions import FUNCTIONS, NeuronFunction, Real
from hexsim.records import dataclass

__all__ = ["FUNCTIONS", "Neuron", "NeuronFunction"]


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
    limits: ClassVar[tuple[Limit, ...]] = (
        Limit(ACCELERATORS, _constant_only, "an elementwise layer needs an operand that varies"),
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


_MOST_CLAMPED = 524_288
"""Elements of the largest clamp that the HTA takes as a layer of its own.

QNN 2.45 compiled one of 262 144 elements on a QRB5165 and failed with 1 048 576 (measured); this is
the middle by ratio (assumed).
"""


def _large_clamp(layer: Neuron, network: Network) -> bool:
    elements = math.prod(network.shape(layer.inputs[0]))
    return layer.function == "clamp" and elements > _MOST_CLAMPED


@dataclass(frozen=True, kw_only=True)
class Neuron(PerPixel):
    """An activation that was not fused into its producer.

    `alpha` and `beta` are the ONNX attributes of the same names (leaky_relu, elu: alpha;
    hard_sigmoid: alpha, beta). That of pow is its exponent, that of silu the factor inside its
    sigmoid. A "clamp" is Relu, Relu6 or Clip with the bounds `clamp`.
    """

    type: ClassVar[str] = "neuron"
    moves_codes: ClassVar[bool] = False
    limits: ClassVar[tuple[Limit, ...]] = (
        Limit(HTA, _large_clamp, f"the HTA clamps at most {_MOST_CLAMPED} elements"),
    )

    function: NeuronFunction
    clamp: Clamp = NO_CLAMP
    alpha: Finite = 0.0
    beta: Finite = 0.0

    def values(self, x: Real) -> Real:
        """Return the function of each number of `x`, in float64; NaN where it is undefined."""
        if self.function == "clamp":
            return np.clip(x, self.clamp.low, self.clamp.high)
        with np.errstate(all="ignore"):
            return FUNCTIONS[self.function].values(x, self.alpha, self.beta)

    @property
    def support(self) -> Support:
        """That of the function."""
        return FUNCTIONS[self.function].support if self.function in FUNCTIONS else UNDECLARED

    def variant(self, inputs: Sequence[Shape]) -> str:
        """Return the function."""
        return self.function

    @property
    def sign(self) -> Sign:
        """That of the function; a clamp at zero or above is never negative."""
        if self.function == "clamp" and self.clamp.low >= 0:
            return "unsigned"
        return FUNCTIONS[self.function].sign if self.function in FUNCTIONS else "signed"

    def is_no_op(self, inputs: Sequence[Shape]) -> bool:
        """Return whether it is a clamp without limits."""
        return self.function == "clamp" and not self.clamp.limits


@dataclass(frozen=True, kw_only=True)
class Prelu(PerPixel):
    """x where x >= 0, else slope * x; `slope` is (channels,) along the last stored axis."""

    type: ClassVar[str] = "prelu"
    support: ClassVar[Support] = EVERYWHERE
    sign: ClassVar[Sign] = "as inputs"
    moves_codes: ClassVar[bool] = False
    ranks: ClassVar[tuple[int, ...]] = ANY_BUT_SCALAR

    slope: str

    def parameter_shapes(self, inputs: Sequence[Shape]) -> NamedShapes:
        """See the class."""
        return ((self.slope, inputs[0][-1:]),)

    @property
    def parameters(self) -> tuple[str, ...]:
        """The slope."""
        return (self.slope,)


@dataclass(frozen=True, kw_only=True)
class Convert(PerPixel):
    """Changes no real values: in float its output equals its input."""

    type: ClassVar[str] = "convert"
    support: ClassVar[Support] = NO_HTA_LAYER
    sign: ClassVar[Sign] = "as inputs"
    moves_codes: ClassVar[bool] = False
