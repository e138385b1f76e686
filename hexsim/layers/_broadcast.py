"""The shape to which operands broadcast, as numpy does it."""

import numpy as np

from hexsim.errors import InvalidDataError
from hexsim.graph.ir import Shape


def broadcast(*shapes: Shape) -> Shape:
    """Return the common shape of operands; InvalidDataError if they have none."""
    try:
        return np.broadcast_shapes(*shapes)
    except ValueError as error:
        listed = " and ".join(str(list(shape)) for shape in shapes)
        raise InvalidDataError(f"operands of the shapes {listed} do not broadcast") from error
