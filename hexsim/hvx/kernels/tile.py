"""Tile: whole vectors are copied if repeats leave them whole, otherwise runs in flat memory.

The innermost repeated part is one run in the source. A vector of shorter runs needs at most two
vectors of the source, because runs that are neighbours in the result are neighbours there.
"""

import math

from hexsim.hvx.kernels._model import Models
from hexsim.hvx.kernels._target import Target
from hexsim.hvx.kernels._through_flat import FlatStep, flat_model, flat_steps
from hexsim.hvx.layout import vector_sizes
from hexsim.hvx.streams.movement import move_loop
from hexsim.layers import Tile
from hexsim.planning.plan import KernelCall

_SOURCES = 2


def _steps(call: KernelCall[Tile], target: Target) -> list[FlatStep]:
    repeats, source = call.layer.repeats, call.operands[0]
    innermost = max((axis for axis, times in enumerate(repeats) if times > 1), default=0)
    run = math.prod(source[innermost:])
    move = move_loop(target.machine, run, _SOURCES)
    return flat_steps(call, target.machine, (call.results[0], move))


def _whole_vectors(call: KernelCall[Tile]) -> bool:
    """Tell whether repeats inside vectors are by whole vectors."""
    repeats, source, inside = call.layer.repeats, call.operands[0], vector_sizes(call.operands[0])
    if not source or inside != vector_sizes(call.results[0]):
        return False
    return all(repeats[axis] == 1 or source[axis] % size == 0 for axis, size in inside.items())


MODELS: Models = {Tile: flat_model(_steps, _whole_vectors)}
