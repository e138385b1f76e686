"""Pad: vectors of the result are copied or constant if the input begins at a whole vector.

Otherwise a vector of the result is assembled from two neighbours of the input. So it is if the
input is repeated along an axis of which a vector has several positions.
"""

from hexsim.hvx.kernels._model import Models
from hexsim.hvx.kernels._moved import move_model
from hexsim.hvx.layout import vector_sizes
from hexsim.layers import Pad
from hexsim.planning.plan import KernelCall


def _sources(call: KernelCall[Pad]) -> int:
    """Return the number of input vectors for one vector of the result."""
    layer = call.layer
    inside = vector_sizes(call.results[0])
    if layer.mode != "constant":
        return 2 if any(layer.begins[axis] or layer.ends[axis] for axis in inside) else 1
    return 1 if all(layer.begins[axis] % size == 0 for axis, size in inside.items()) else 2


MODELS: Models = {Pad: move_model(_sources)}
