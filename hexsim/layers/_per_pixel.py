"""The base class of layers that treat every pixel alike."""

from collections.abc import Sequence
from typing import Self

from hexsim.graph.ir import Layer, Shape


class PerPixel(Layer):
    """The output has the shape of the input; no axis but the last has a special meaning."""

    def output_shapes(self, inputs: Sequence[Shape]) -> tuple[Shape, ...]:
        """Return the shape of the input."""
        return (inputs[0],)

    def turned(self) -> Self:
        """Return itself."""
        return self
