"""Gather, one axis after the other, and tiles: codes repeated."""

import math

from numpy.lib.stride_tricks import as_strided

from hexsim.int8.machine_code.jit import template
from hexsim.int8.pointwise.movement import through
from hexsim.int8.pointwise.strided_copy import copy
from hexsim.int8.prepared import Inputs, Out, Preparers, Steps, unpacked
from hexsim.int8.step import FIRST, LAST, Step, Work, Workspace
from hexsim.lowering.lowered_call import Codes, Int32
from hexsim.lowering.movement import LoweredGather, LoweredTile


@unpacked
def gather(call: LoweredGather, inputs: Inputs, output: Out, workspace: Workspace) -> Steps:
    """Codes from positions of one or more axes; between two axes they lie in the workspace."""
    if not call.places:
        return [copy(inputs[0], output), *through(call.table, output)]
    work: list[Work] = []
    codes: Out = inputs[0]
    last = len(call.places) - 1
    for number, (axis, places) in enumerate(call.places):
        shape = (*codes.shape[:axis], len(places), *codes.shape[axis + 1 :])
        out = output if number == last else workspace.empty(shape, codes.dtype)
        work.append(_gather_step(codes, axis, places, out))
        codes = out
    return [*work, *through(call.table, output)]


@unpacked
def tile(call: LoweredTile, inputs: Inputs, output: Out, workspace: Workspace) -> Steps:
    """A copy from a source that does not move along the axis of the repeats."""
    sizes = inputs[0].shape
    pairs = zip(call.repeats, sizes, strict=True)
    spread = tuple(size for pair in pairs for size in pair)
    steps = tuple(step for stride in inputs[0].strides for step in (0, stride))
    source = as_strided(inputs[0], spread, steps)
    return [copy(source, output.reshape(spread)), *through(call.table, output)]


def _gather_step(codes: Out, axis: int, places: Int32, out: Out) -> Step:
    outer, inner = math.prod(codes.shape[:axis]), math.prod(codes.shape[axis + 1 :])
    arguments = (
        codes.reshape(outer, codes.shape[axis], inner), places,
        out.reshape(outer, len(places), inner), FIRST, LAST,
    )  # fmt: skip
    return Step(_gather(codes.dtype), arguments, outer * len(places))


@template("void({0}[:,:,::1],int32[::1],{0}[:,:,::1],int64,int64)")
def _gather(x: Codes, places: Int32, out: Out, first: int, last: int) -> None:
    for row in range(first, last):
        block = row // places.size
        at = row - block * places.size
        source, target = x[block, places[at]], out[block, at]
        for k in range(target.size):
            target[k] = source[k]


PREPARERS: Preparers = {LoweredGather: gather, LoweredTile: tile}
