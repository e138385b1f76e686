"""Concat, rearrangements, slices, padding: codes are copied, rescaled where encodings differ."""

import numpy as np
from numpy.lib.stride_tricks import as_strided

from hexsim.int8.pointwise.lookup import look_up
from hexsim.int8.pointwise.strided_copy import copy
from hexsim.int8.prepared import Inputs, Out, Preparers, Steps, unpacked
from hexsim.int8.step import Work, Workspace
from hexsim.lowering.lowered_call import Codes
from hexsim.lowering.movement import LoweredConcat, LoweredPad, LoweredRearrange, LoweredSlice


def rescaled(codes: Codes, table: Codes | None, workspace: Workspace) -> tuple[Codes, list[Work]]:
    """Return `codes` through `table`, and the work that makes them; `codes` without one."""
    if table is None:
        return codes, []
    result = workspace.empty(codes.shape, table.dtype)
    return result, [look_up(codes, table.reshape(1, -1), result)]


def through(table: Codes | None, codes: Out) -> list[Work]:
    """Return the work that rescales `codes` where they are."""
    return [] if table is None else [look_up(codes, table.reshape(1, -1), codes)]


@unpacked
def concat(call: LoweredConcat, inputs: Inputs, output: Out, workspace: Workspace) -> Steps:
    """Inputs side by side along one axis."""
    work: list[Work] = []
    boundaries = np.cumsum([codes.shape[call.axis] for codes in inputs])[:-1]
    parts = np.split(output, boundaries, call.axis)
    for codes, table, part in zip(inputs, call.tables, parts, strict=True):
        source, before = rescaled(codes, table, workspace)
        work += [*before, copy(source, part)]
    return work


@unpacked
def rearrange(call: LoweredRearrange, inputs: Inputs, output: Out, workspace: Workspace) -> Steps:
    """Reshape, permute or channel shuffle."""
    moved = inputs[0].reshape(call.split).transpose(call.permutation)
    return [copy(moved, output.reshape(moved.shape)), *through(call.table, output)]


@unpacked
def strided_slice(call: LoweredSlice, inputs: Inputs, output: Out, workspace: Workspace) -> Steps:
    """Part of a tensor."""
    return [copy(inputs[0][call.selection], output), *through(call.table, output)]


@unpacked
def pad(call: LoweredPad, inputs: Inputs, output: Out, workspace: Workspace) -> Steps:
    """A tensor inside a larger one."""
    fill = np.full(1, call.fill, output.dtype)
    everywhere = as_strided(fill, output.shape, (0,) * output.ndim)
    inner, before = rescaled(inputs[0], call.table, workspace)
    return [copy(everywhere, output), *before, copy(inner, output[call.interior])]


PREPARERS: Preparers = {
    LoweredConcat: concat,
    LoweredPad: pad,
    LoweredRearrange: rearrange,
    LoweredSlice: strided_slice,
}
