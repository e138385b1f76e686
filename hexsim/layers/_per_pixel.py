"""What layers have in common that do the same to every pixel."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self

from hexsim.graph.ir import Layer, Shape


class PerPixel(Layer):
    """The output has the shape of the input; no axis but the last means anything."""

    def output_shapes(self, inputs: Sequence[Shape]) -> tuple[Shape, ...]:
        """Unchanged."""
        return (inputs[0],)

    def turned(self) -> Self:
        """Itself."""
        return self
