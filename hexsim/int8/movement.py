"""Concat, rearrangements, slices, padding: codes copied, rescaled where encodings differ."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from hexsim.binding.call import Codes
from hexsim.binding.concat import BoundConcat
from hexsim.binding.pad import BoundPad
from hexsim.binding.rearrange import BoundRearrange
from hexsim.binding.strided_slice import BoundSlice
from hexsim.int8.lookup import look_up
from hexsim.int8.prepared import Out


def rescaled(codes: Codes, table: Codes | None) -> Codes:
    """Return `codes` through `table`; unchanged without one."""
    if table is None:
        return codes
    result = np.empty(codes.shape, table.dtype)
    look_up(codes, table.reshape(1, -1), result)
    return result


class PreparedConcat:
    """Inputs side by side along one axis."""

    def __init__(self, call: BoundConcat) -> None:
        self._axis = call.axis
        self._tables = call.tables

    def __call__(self, inputs: Sequence[Codes], output: Out) -> None:
        """See PreparedCall."""
        parts = [rescaled(x, table) for x, table in zip(inputs, self._tables, strict=True)]
        np.concatenate(parts, axis=self._axis, out=output)


class PreparedRearrange:
    """Reshape, permute or channel shuffle."""

    def __init__(self, call: BoundRearrange) -> None:
        self._split = call.split
        self._permutation = call.permutation
        self._table = call.table

    def __call__(self, inputs: Sequence[Codes], output: Out) -> None:
        """See PreparedCall."""
        moved = inputs[0].reshape(self._split).transpose(self._permutation)
        output.reshape(moved.shape)[...] = moved
        if self._table is not None:
            look_up(output, self._table.reshape(1, -1), output)


class PreparedSlice:
    """Part of a tensor."""

    def __init__(self, call: BoundSlice) -> None:
        self._selection = call.selection
        self._table = call.table

    def __call__(self, inputs: Sequence[Codes], output: Out) -> None:
        """See PreparedCall."""
        output[...] = rescaled(np.ascontiguousarray(inputs[0][self._selection]), self._table)


class PreparedPad:
    """A tensor inside a larger one."""

    def __init__(self, call: BoundPad) -> None:
        self._interior = call.interior
        self._fill = call.fill
        self._table = call.table

    def __call__(self, inputs: Sequence[Codes], output: Out) -> None:
        """See PreparedCall."""
        output.fill(self._fill)
        output[self._interior] = rescaled(inputs[0], self._table)
