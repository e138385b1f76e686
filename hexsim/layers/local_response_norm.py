"""LocalResponseNorm: normalisation across neighbouring channels (CMRN)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from hexsim.graph.ir import Layer, Shape


@dataclass(frozen=True, kw_only=True)
class LocalResponseNorm(Layer):
    """y = x / (bias + alpha / size * sum of x^2 over `size` channels around)^beta.

    The window is the ONNX one: from c - floor((size-1)/2) to c + ceil((size-1)/2).
    """

    type: ClassVar[str] = "cmrn"

    size: int
    alpha: float
    beta: float
    bias: float

    def output_shapes(self, inputs: Sequence[Shape]) -> tuple[Shape, ...]:
        """Unchanged."""
        return (inputs[0],)
