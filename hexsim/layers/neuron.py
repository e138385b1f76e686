"""Neuron: a function of one number applied to every element."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

from hexsim.graph.ir import Shape, Sign
from hexsim.graph.support import CPU, EVERYWHERE, GPU, NO_HTA_FUNCTION, UNDECLARED, Support
from hexsim.layers._clamp import NO_CLAMP, Clamp
from hexsim.layers._per_pixel import PerPixel

NeuronFunction = Literal[
    "clamp", "leaky_relu", "sigmoid", "tanh", "elu", "hard_sigmoid", "hard_swish"
]

FUNCTIONS: Mapping[NeuronFunction, tuple[Support, Sign]] = {
    "clamp": (EVERYWHERE, "as inputs"),
    "leaky_relu": (EVERYWHERE, "as inputs"),
    "sigmoid": (EVERYWHERE, "unsigned"),
    "tanh": (EVERYWHERE, "as inputs"),
    "elu": (
        Support(CPU | GPU, "Elu runs on CPU and GPU only (SNPE layer support table)"),
        "as inputs",
    ),
    "hard_sigmoid": (NO_HTA_FUNCTION, "unsigned"),
    "hard_swish": (EVERYWHERE, "as inputs"),
}
"""Who takes each function, and whether its result may be negative."""


@dataclass(frozen=True, kw_only=True)
class Neuron(PerPixel):
    """An activation that was not fused into its producer.

    `alpha` and `beta` are the ONNX attributes of the same names (leaky_relu, elu: alpha;
    hard_sigmoid: alpha, beta). A "clamp" is Relu, Relu6 or Clip with the bounds `clamp`.
    """

    type: ClassVar[str] = "neuron"
    moves_codes: ClassVar[bool] = False

    function: NeuronFunction
    clamp: Clamp = NO_CLAMP
    alpha: float = 0.0
    beta: float = 0.0

    @property
    def support(self) -> Support:
        """That of the function."""
        return FUNCTIONS[self.function][0] if self.function in FUNCTIONS else UNDECLARED

    @property
    def sign(self) -> Sign:
        """That of the function; a clamp at zero or above leaves nothing negative."""
        if self.function == "clamp" and self.clamp.low >= 0:
            return "unsigned"
        return FUNCTIONS[self.function][1] if self.function in FUNCTIONS else "signed"

    def is_no_op(self, inputs: Sequence[Shape]) -> bool:
        """True for a clamp without limits."""
        return self.function == "clamp" and not self.clamp.limits
