"""Gather at known positions: whole vectors copied, or runs moved in flat memory.

If each vector has only one position of the axis, whole vectors are copied. Otherwise a position is
one run of all inner axes; a vector of short runs may need all source vectors of the axis.
"""

import math

from hexsim.hvx.kernels._model import Models
from hexsim.hvx.kernels._target import Target
from hexsim.hvx.kernels._through_flat import FlatStep, flat_model, flat_steps
from hexsim.hvx.layout import ceil_div, vector_sizes
from hexsim.hvx.streams.movement import VECTOR_BYTES, move_loop
from hexsim.layers import Gather
from hexsim.planning.plan import KernelCall


def _steps(call: KernelCall[Gather], target: Target) -> list[FlatStep]:
    source, axis = call.operands[0], call.layer.axis
    run = math.prod(source[axis + 1 :])
    sources = ceil_div(source[axis] * run, VECTOR_BYTES) + 1
    move = move_loop(target.machine, run, sources)
    return flat_steps(call, target.machine, (call.results[0], move))


def _whole_vectors(call: KernelCall[Gather]) -> bool:
    return call.layer.axis not in vector_sizes(call.operands[0])


MODELS: Models = {Gather: flat_model(_steps, _whole_vectors)}
