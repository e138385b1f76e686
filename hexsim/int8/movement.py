"""Concat, rearrangements, slices, padding: codes copied, rescaled where encodings differ."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial

import numpy as np

from hexsim.binding.call import Codes
from hexsim.binding.concat import BoundConcat
from hexsim.binding.pad import BoundPad
from hexsim.binding.rearrange import BoundRearrange
from hexsim.binding.strided_slice import BoundSlice
from hexsim.int8.jit import template
from hexsim.int8.lookup import look_up
from hexsim.int8.prepared import Out
from hexsim.int8.step import FIRST, LAST, Step, Work, Workspace


def rescaled(codes: Codes, table: Codes | None) -> Codes:
    """Return `codes` through `table`; unchanged without one."""
    if table is None:
        return codes
    result = np.empty(codes.shape, table.dtype)
    look_up(codes, table.reshape(1, -1), result)()
    return result


class PreparedConcat:
    """Inputs side by side along one axis."""

    def __init__(self, call: BoundConcat) -> None:
        self._axis = call.axis
        self._tables = call.tables

    def steps(self, inputs: Sequence[Codes], output: Out, workspace: Workspace) -> list[Work]:
        """See PreparedCall."""
        before = math.prod(output.shape[: self._axis])
        rows = output.reshape(before, -1)
        work: list[Work] = []
        start = 0
        for codes, table in zip(inputs, self._tables, strict=True):
            part = codes.reshape(before, -1)
            entries = _NO_TABLE.astype(output.dtype) if table is None else table
            arguments = (part, entries, rows, start, FIRST, LAST)
            work.append(Step(_copy_beside(output.dtype), arguments, before))
            start += part.shape[1]
        return work


_NO_TABLE = np.empty(0, np.uint8)


@template("void({0}[:,::1],{0}[::1],{0}[:,::1],int64,int64,int64)")
def _copy_beside(part: Codes, table: Codes, rows: Codes, start: int, first: int, last: int) -> None:
    for at in range(first, last):
        codes = part[at]
        row = rows[at, start : start + codes.size]
        if table.size:
            for i in range(codes.size):
                row[i] = table[codes[i]]
        else:
            for i in range(codes.size):
                row[i] = codes[i]


class PreparedRearrange:
    """Reshape, permute or channel shuffle."""

    def __init__(self, call: BoundRearrange) -> None:
        self._split = call.split
        self._permutation = call.permutation
        self._table = call.table

    def steps(self, inputs: Sequence[Codes], output: Out, workspace: Workspace) -> list[Work]:
        """See PreparedCall."""
        moved = inputs[0].reshape(self._split).transpose(self._permutation)
        work: list[Work] = [partial(np.copyto, output.reshape(moved.shape), moved)]
        if self._table is not None:
            work.append(look_up(output, self._table.reshape(1, -1), output))
        return work


class PreparedSlice:
    """Part of a tensor."""

    def __init__(self, call: BoundSlice) -> None:
        self._selection = call.selection
        self._table = call.table

    def steps(self, inputs: Sequence[Codes], output: Out, workspace: Workspace) -> list[Work]:
        """See PreparedCall."""

        def cut() -> None:
            part = np.ascontiguousarray(inputs[0][self._selection])
            output[...] = rescaled(part, self._table)

        return [cut]


class PreparedPad:
    """A tensor inside a larger one."""

    def __init__(self, call: BoundPad) -> None:
        self._interior = call.interior
        self._fill = call.fill
        self._table = call.table

    def steps(self, inputs: Sequence[Codes], output: Out, workspace: Workspace) -> list[Work]:
        """See PreparedCall."""

        def surround() -> None:
            output.fill(self._fill)
            output[self._interior] = rescaled(inputs[0], self._table)

        return [surround]
