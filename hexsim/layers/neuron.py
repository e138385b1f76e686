"""Neuron: a function of one number applied to every element."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

from hexsim.graph.ir import Layer, Shape
from hexsim.layers._clamp import NO_CLAMP, Clamp

NeuronFunction = Literal[
    "clamp", "leaky_relu", "sigmoid", "tanh", "elu", "hard_sigmoid", "hard_swish"
]


@dataclass(frozen=True, kw_only=True)
class Neuron(Layer):
    """An activation that was not fused into its producer.

    `alpha` and `beta` are the ONNX attributes of the same names (leaky_relu, elu: alpha;
    hard_sigmoid: alpha, beta). A "clamp" is Relu, Relu6 or Clip with the bounds `clamp`.
    """

    type: ClassVar[str] = "neuron"

    function: NeuronFunction
    clamp: Clamp = NO_CLAMP
    alpha: float = 0.0
    beta: float = 0.0

    def output_shapes(self, inputs: Sequence[Shape]) -> tuple[Shape, ...]:
        """Unchanged."""
        return (inputs[0],)
