"""Strided slice: vectors of the part are copied if it begins at a whole vector.

Otherwise a vector of the result is assembled from two neighbours of the input or, if positions
inside vectors are skipped, from as many as the step.
"""

from hexsim.hvx.kernels._model import Models
from hexsim.hvx.kernels._moved import move_model
from hexsim.hvx.layout import vector_sizes
from hexsim.layers import StridedSlice
from hexsim.planning.plan import KernelCall


def _sources(call: KernelCall[StridedSlice]) -> int:
    """Return the number of input vectors for one vector of the result."""
    layer, inside = call.layer, vector_sizes(call.operands[0])
    sources = 1
    for part in layer.parts:
        if part.axis in inside and (part.step > 1 or part.start % inside[part.axis]):
            sources *= max(2, part.step)
    return sources


MODELS: Models = {StridedSlice: move_model(_sources)}
