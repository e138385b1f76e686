"""Elementwise layers over operands spread to the output's shape."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numba
import numpy as np
from numba.core import types
from numba.extending import intrinsic

from hexsim.binding.call import Codes, Int32, Int64
from hexsim.binding.elementwise import BoundExtremum, BoundProduct, BoundSum
from hexsim.int8.jit import kernel, template
from hexsim.int8.microkernel import COLUMNS
from hexsim.int8.movement import rescaled
from hexsim.int8.prepared import SUM_BYTES, Out
from hexsim.int8.requantise import requantise
from hexsim.int8.step import FIRST, LAST, Scratch, Step, Work, Workspace
from hexsim.int8.vector_requantise import requantise_rows
from hexsim.int8.wide import WideTail


class PreparedSum:
    """Sum or difference: one signed factor per operand."""

    def __init__(self, call: BoundSum) -> None:
        self._zero_points = np.array([x.zero_point for x in call.inputs], np.int32)
        self._factors = call.factors
        self._tail = call.tail

    def steps(self, inputs: Sequence[Codes], output: Out, workspace: Workspace) -> list[Work]:
        """See PreparedCall."""
        tail = self._tail
        addresses, work = _spread(inputs, output, workspace)
        arguments = (
            addresses, self._factors, self._zero_points, tail.preload[0],
            tail.multiplier[0], tail.shift[0], tail.low, tail.high, output.reshape(-1),
            FIRST, LAST, Scratch(_CHUNK, np.int32), Scratch(_CHUNK // COLUMNS, np.int32),
            Scratch(COLUMNS, np.int32), Scratch(COLUMNS, np.int32),
        )  # fmt: skip
        return [*work, Step(_sum(output.dtype), arguments, output.size, grain=_CHUNK)]


class PreparedProduct:
    """Product of two or three operands."""

    def __init__(self, call: BoundProduct) -> None:
        self._zero_points = np.array([x.zero_point for x in call.inputs], np.int32)
        self._tail = call.tail

    def steps(self, inputs: Sequence[Codes], output: Out, workspace: Workspace) -> list[Work]:
        """See PreparedCall."""
        tail = self._tail
        addresses, work = _spread(inputs, output, workspace)
        arguments = (
            addresses, self._zero_points, tail.preload[0], tail.multiplier[0],
            tail.shift[0], tail.low, tail.high, output.reshape(-1),
            FIRST, LAST, Scratch(_CHUNK, np.int32),
        )  # fmt: skip
        return [*work, Step(_product, arguments, output.size, grain=_CHUNK)]


class PreparedWideProduct:
    """Product of two or three 16-bit operands, in 64 bits."""

    def __init__(self, call: BoundProduct) -> None:
        self._zero_points = [x.zero_point for x in call.inputs]
        self._finish = WideTail(call, [0])

    def steps(self, inputs: Sequence[Codes], output: Out, workspace: Workspace) -> list[Work]:
        """See PreparedCall."""

        def multiply() -> None:
            products = np.ones(output.shape, np.int64)
            for codes, zero_point in zip(inputs, self._zero_points, strict=True):
                products *= codes.astype(np.int64) - zero_point
            self._finish(products[np.newaxis], output)

        return [multiply]


class PreparedExtremum:
    """Maximum or minimum of rescaled codes."""

    def __init__(self, call: BoundExtremum) -> None:
        self._tables = call.tables
        self._choose = np.maximum if call.kind == "max" else np.minimum

    def steps(self, inputs: Sequence[Codes], output: Out, workspace: Workspace) -> list[Work]:
        """See PreparedCall."""

        def choose() -> None:
            for position, (codes, table) in enumerate(zip(inputs, self._tables, strict=True)):
                part = rescaled(codes, table)
                if position == 0:
                    output[...] = part
                else:
                    self._choose(output, part, out=output)

        return [choose]


def _spread(inputs: Sequence[Codes], output: Out, workspace: Workspace) -> tuple[Int64, list[Work]]:
    """Addresses of the operands, each of the output's shape, and the work that makes them so."""
    work: list[Work] = []
    addresses = []
    for codes in inputs:
        spread = codes
        if codes.shape != output.shape:
            spread = workspace.empty(output.shape, np.uint8)
            work.append(partial(np.copyto, spread, codes))
        addresses.append(spread.ctypes.data)
    return np.array(addresses, np.int64), work


@intrinsic  # type: ignore[untyped-decorator]
def _bytes_at(typing: Any, address: Any) -> Any:
    """The address as a pointer to bytes."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.inttoptr(arguments[0], context.get_value_type(signature.return_type))

    return types.CPointer(types.uint8)(types.int64), generate  # type: ignore[attr-defined]


_CHUNK = 4096
"""Elements summed at a time, so that the accumulators stay in the L1 cache."""


@template(
    "void(int64[::1],int32[::1],int32[::1],int32,int32,int32,int32,int32,{0}[::1],"
    "int64,int64,int32[::1],int32[::1],int32[::1],int32[::1])"
)
def _sum(
    operands: Int64,
    factors: Int32,
    zero_points: Int32,
    preload: int,
    multiplier: int,
    shift: int,
    low: int,
    high: int,
    out: Out,
    first: int,
    last: int,
    sums: Int32,
    none: Int32,
    multipliers: Int32,
    shifts: Int32,
) -> None:
    none[:] = 0
    multipliers[:] = multiplier
    shifts[:] = shift
    for start in range(first, last, _CHUNK):
        part = out[start : min(start + _CHUNK, last)]
        sums[:] = preload
        for i in range(factors.size):
            codes = numba.carray(_bytes_at(operands[i] + start), part.size)
            for k in range(codes.size):
                distance = np.int32(np.int32(codes[k]) - zero_points[i])
                sums[k] += np.int32(factors[i] * distance)
        if out.itemsize == SUM_BYTES:
            for k in range(part.size):
                part[k] = sums[k]
        else:
            # Rows of the vector requantise; what is left of the last one, by itself.
            rows = part.size // COLUMNS
            if rows:
                requantise_rows(
                    rows, sums.ctypes.data, SUM_BYTES * COLUMNS, none.ctypes.data,
                    none.ctypes.data, multipliers.ctypes.data, shifts.ctypes.data, shift, low, high,
                    part.ctypes.data, COLUMNS,
                )  # fmt: skip
            for k in range(rows * COLUMNS, part.size):
                part[k] = requantise(sums[k], multiplier, shift, low, high)


@kernel(
    "void(int64[::1],int32[::1],int32,int32,int32,int32,int32,uint8[::1],int64,int64,int32[::1])"
)
def _product(
    operands: Int64,
    zero_points: Int32,
    preload: int,
    multiplier: int,
    shift: int,
    low: int,
    high: int,
    out: Codes,
    first: int,
    last: int,
    products: Int32,
) -> None:
    for start in range(first, last, _CHUNK):
        part = out[start : min(start + _CHUNK, last)]
        products[:] = 1
        for i in range(zero_points.size):
            codes = numba.carray(_bytes_at(operands[i] + start), part.size)
            for k in range(codes.size):
                distance = np.int32(np.int32(codes[k]) - zero_points[i])
                products[k] = np.int32(products[k] * distance)
        for k in range(part.size):
            total = np.int32(products[k] + preload)
            part[k] = requantise(total, multiplier, shift, low, high)
