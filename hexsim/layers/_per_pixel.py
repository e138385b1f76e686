"""The base class of layers that treat every pixel alike.

The shape to which operands broadcast, as numpy does it.
"""

from collections.abc import Sequence
from typing import Self

import numpy as np

from hexsim.errors import InvalidDataError
from hexsim.graph.ir import Layer, Shape


class PerPixel(Layer):
    """The output has the shape of the input; no axis but the last has a special meaning."""

    def output_shapes(self, inputs: Sequence[Shape]) -> tuple[Shape, ...]:
        """Return the shape of the input."""
        return (inputs[0],)

    def turned(self) -> Self:
        """Return itself."""
        return self


def broadcast(*shapes: Shape) -> Shape:
    """Return the common shape of operands; InvalidDataError if they have none."""
    try:
        return np.broadcast_shapes(*shapes)
    except ValueError as error:
        listed = " and ".join(str(list(shape)) for shape in shapes)
        raise InvalidDataError(f"operands of the shapes {listed} do not broadcast") from error
