"""Concat, rearrangements, slices, padding: codes are copied, rescaled where encodings differ."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.lib.stride_tricks import as_strided

from hexsim.int8.pointwise.lookup import look_up
from hexsim.int8.pointwise.strided_copy import copy
from hexsim.int8.prepared import Out, Preparers
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


class PreparedConcat:
    """Inputs side by side along one axis."""

    def __init__(self, call: LoweredConcat) -> None:
        self._axis = call.axis
        self._tables = call.tables

    def steps(self, inputs: Sequence[Codes], output: Out, workspace: Workspace) -> list[Work]:
        """See PreparedCall."""
        work: list[Work] = []
        boundaries = np.cumsum([codes.shape[self._axis] for codes in inputs])[:-1]
        parts = np.split(output, boundaries, self._axis)
        for codes, table, part in zip(inputs, self._tables, parts, strict=True):
            source, before = rescaled(codes, table, workspace)
            work += [*before, copy(source, part)]
        return work


class PreparedRearrange:
    """Reshape, permute or channel shuffle."""

    def __init__(self, call: LoweredRearrange) -> None:
        self._split = call.split
        self._permutation = call.permutation
        self._table = call.table

    def steps(self, inputs: Sequence[Codes], output: Out, workspace: Workspace) -> list[Work]:
        """See PreparedCall."""
        moved = inputs[0].reshape(self._split).transpose(self._permutation)
        return [copy(moved, output.reshape(moved.shape)), *through(self._table, output)]


class PreparedSlice:
    """Part of a tensor."""

    def __init__(self, call: LoweredSlice) -> None:
        self._selection = call.selection
        self._table = call.table

    def steps(self, inputs: Sequence[Codes], output: Out, workspace: Workspace) -> list[Work]:
        """See PreparedCall."""
        return [copy(inputs[0][self._selection], output), *through(self._table, output)]


class PreparedPad:
    """A tensor inside a larger one."""

    def __init__(self, call: LoweredPad) -> None:
        self._interior = call.interior
        self._fill = call.fill
        self._table = call.table

    def steps(self, inputs: Sequence[Codes], output: Out, workspace: Workspace) -> list[Work]:
        """See PreparedCall."""
        fill = np.full(1, self._fill, output.dtype)
        everywhere = as_strided(fill, output.shape, (0,) * output.ndim)
        inner, before = rescaled(inputs[0], self._table, workspace)
        return [copy(everywhere, output), *before, copy(inner, output[self._interior])]


PREPARERS: Preparers = {
    LoweredConcat: PreparedConcat,
    LoweredPad: PreparedPad,
    LoweredRearrange: PreparedRearrange,
    LoweredSlice: PreparedSlice,
}
