"""Softmax along one stored axis."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from hexsim.graph.ir import Layer, Shape


@dataclass(frozen=True, kw_only=True)
class Softmax(Layer):
    """exp(x) over its sum along the stored axes `axes` (old ONNX opsets flatten several)."""

    type: ClassVar[str] = "softmax"

    axes: tuple[int, ...]

    def output_shapes(self, inputs: Sequence[Shape]) -> tuple[Shape, ...]:
        """Unchanged."""
        return (inputs[0],)
