"""Gather, one axis after the other, and tiles: codes repeated."""

from __future__ import annotations

import math
from collections.abc import Sequence

from numpy.lib.stride_tricks import as_strided

from hexsim.int8.machine_code.jit import template
from hexsim.int8.pointwise.movement import through
from hexsim.int8.pointwise.strided_copy import copy
from hexsim.int8.prepared import Out, Preparers
from hexsim.int8.step import FIRST, LAST, Step, Work, Workspace
from hexsim.lowering.lowered_call import Codes, Int32
from hexsim.lowering.movement import LoweredGather, LoweredTile


class PreparedGather:
    """Codes from positions of one or more axes; between two axes they lie in the workspace."""

    def __init__(self, call: LoweredGather) -> None:
        self._places = call.places
        self._table = call.table

    def steps(self, inputs: Sequence[Codes], output: Out, workspace: Workspace) -> list[Work]:
        """See PreparedCall."""
        if not self._places:
            return [copy(inputs[0], output), *through(self._table, output)]
        work: list[Work] = []
        codes: Out = inputs[0]
        last = len(self._places) - 1
        for number, (axis, places) in enumerate(self._places):
            shape = (*codes.shape[:axis], len(places), *codes.shape[axis + 1 :])
            out = output if number == last else workspace.empty(shape, codes.dtype)
            work.append(_gather_step(codes, axis, places, out))
            codes = out
        return [*work, *through(self._table, output)]


class PreparedTile:
    """A copy from a source that does not move along the axis of the repeats."""

    def __init__(self, call: LoweredTile) -> None:
        self._repeats = call.repeats
        self._table = call.table

    def steps(self, inputs: Sequence[Codes], output: Out, workspace: Workspace) -> list[Work]:
        """See PreparedCall."""
        sizes = inputs[0].shape
        pairs = zip(self._repeats, sizes, strict=True)
        spread = tuple(size for pair in pairs for size in pair)
        steps = tuple(step for stride in inputs[0].strides for step in (0, stride))
        source = as_strided(inputs[0], spread, steps)
        return [copy(source, output.reshape(spread)), *through(self._table, output)]


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


PREPARERS: Preparers = {LoweredGather: PreparedGather, LoweredTile: PreparedTile}
