"""Neuron: an element-wise function."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from hexsim.graph.domains import Real as Finite
from hexsim.graph.ir import Network, Shape, Sign
from hexsim.graph.support import HTA, UNDECLARED, Rule, Support
from hexsim.layers._clamp import NO_CLAMP, Clamp
from hexsim.layers._functions import FUNCTIONS, NeuronFunction, Real
from hexsim.layers._per_pixel import PerPixel

__all__ = ["FUNCTIONS", "Neuron", "NeuronFunction"]

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
    limits: ClassVar[tuple[Rule, ...]] = (
        Rule(HTA, _large_clamp, f"the HTA clamps at most {_MOST_CLAMPED} elements"),
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
