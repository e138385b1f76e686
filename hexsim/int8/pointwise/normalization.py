"""Normalization: sums of codes and squares, integer reciprocal root, one requantise stage.

Softmax: tables of exponentials, an integer sum, then a division or, of 8-bit codes as Hexagon NN
computes them, a 16-bit reciprocal (docs/reference/arithmetic.md).
"""

import math
from typing import NamedTuple

import numpy as np

from hexsim.graph.ir import Shape
from hexsim.int8.machine_code.arguments import record
from hexsim.int8.machine_code.jit import inlined, kernel, template
from hexsim.int8.pointwise.movement import rows_along
from hexsim.int8.requantize import OneStage16, one_stage_16bit, requantize_16bit
from hexsim.int8.step import ROWS, Buffers, Preparers, Step, Steps, unpacked
from hexsim.lowering.lowered_call import Codes, Int32, Int64
from hexsim.lowering.normalization import (
    ROOT_BITS,
    LoweredByteSoftmax,
    LoweredNormalization,
    LoweredSoftmax,
)

_LEAST = 1 << 2 * ROOT_BITS - 2
"""The least number to which a number is scaled before its root is taken."""


@record("int64,int64,int64,int64,int64,int64,int64")
class Form(NamedTuple):
    """Zero point, n (1 for a length), whether the mean is subtracted, and the lowered constants.

    `root_shift` is s without e.
    """

    zero_point: int
    number: int
    centred: int
    cut: int
    more: int
    epsilon: int
    root_shift: int


@record("int64,int64,int64,int64")
class ProbabilityCodes(NamedTuple):
    """1 / delta_y with its fraction bits, the zero point, and the largest code."""

    scale: int
    scale_bits: int
    zero_point: int
    most: int


@record("int64[::1],int64[::1],int64[::1],int64[::1]")
class Affine(NamedTuple):
    """Factors and preloads; an element's index is the sum of a number by row and one by column."""

    factors: Int64
    preloads: Int64
    by_row: Int64
    by_column: Int64


@unpacked
def normalized(call: LoweredNormalization, at: Buffers) -> Steps:
    """Rows of the elements that share a statistic."""
    x, rows, before, after = rows_along(call.axes, at.inputs[0], at.output, at.workspace)
    shared = tuple(sorted(call.axes))
    separate = tuple(axis for axis in range(at.output.ndim) if axis not in shared)
    count = 1 if call.kind == "length" else rows.shape[1]
    form = Form(
        call.inputs[0].zero_point, count, int(call.kind == "deviation"),
        call.cut, min(2 * call.more, 63), call.epsilon, 2 * ROOT_BITS - 1 - call.normal_bits,
    )  # fmt: skip
    indices = np.broadcast_to(np.arange(call.factors.size).reshape(call.spread), at.output.shape)
    affine = Affine(
        call.factors.astype(np.int64),
        call.stage.preload.astype(np.int64),
        _along(indices, separate, at.output.shape),
        _along(indices, shared, at.output.shape),
    )
    arguments = (x, form, affine, one_stage_16bit(call.stage), rows, *ROWS)
    return [*before, Step(_normalize(at.output.dtype), arguments, len(rows)), *after]


def _along(indices: Int64, axes: tuple[int, ...], shape: Shape) -> Int64:
    """Return what the indices along `axes` add to the first one."""
    index = tuple(slice(None) if axis in axes else 0 for axis in range(len(shape)))
    return np.ascontiguousarray(indices[index], np.int64).reshape(-1)


@inlined
def _reciprocal_root(number: int) -> tuple[np.int64, np.int64]:
    """Return r and e / 2 of docs/reference/arithmetic.md, for a number above zero."""
    even = np.int64(0)
    while number << even < np.int64(_LEAST):
        even += np.int64(2)
    scaled = number << even
    root = np.int64(math.sqrt(scaled))  # a float, which may be beside the integer root
    while root * root > scaled:
        root -= 1
    while (root + 1) * (root + 1) <= scaled:
        root += 1
    reciprocal = (np.int64(1) << np.int64(2 * ROOT_BITS - 1)) // root
    return reciprocal, even // 2


@template("void({0}[:,::1],Form,Affine,OneStage16,{0}[:,::1],int64,int64)")
def _normalize(
    x: Codes, form: Form, affine: Affine, stage: OneStage16, out: Codes, first: int, last: int
) -> None:
    for row in range(first, last):
        total = np.int64(0)
        squares = np.int64(0)
        for k in range(x.shape[1]):
            distance = np.int64(x[row, k]) - form.zero_point
            total += distance
            squares += distance * distance
        # Around the whole mean, so that all numbers fit 64 bits.
        mean = total // form.number if form.centred else np.int64(0)
        rest = total - mean * form.number if form.centred else np.int64(0)
        squares += mean * (mean * np.int64(x.shape[1]) - 2 * total)
        twice = np.int64(2) * form.cut
        low = form.number * (squares & ((np.int64(1) << twice) - 1)) - rest * rest
        width = form.number * (squares >> twice) + (low >> twice)
        width = (width >> form.more) + form.epsilon
        reciprocal, shift = np.int64(0), np.int64(1)
        if width > 0:
            reciprocal, even = _reciprocal_root(width)
            shift = form.root_shift - even
        half = np.int64(1) << (shift - 1)
        kept = (np.int64(1) << form.cut) >> 1
        place = affine.by_row[row]
        for k in range(x.shape[1]):
            distance = form.number * (np.int64(x[row, k]) - form.zero_point - mean) - rest
            normal = (((distance + kept) >> form.cut) * reciprocal + half) >> shift
            at = place + affine.by_column[k]
            out[row, k] = requantize_16bit(
                affine.preloads[at] + affine.factors[at] * normal,
                stage.multiplier, stage.shift, stage.fraction_bits, stage.low, stage.high,
            )  # fmt: skip


PREPARERS_16BIT: Preparers = {LoweredNormalization: normalized}


_HALF_LIMIT = 1 << 30
_HALF = 1 << 14
_S16_LIMIT = 32767
_FULL = 255 << 7
"""A result of one: 255 codes, as a 16-bit fraction."""
_SQUARE, _LINEAR, _CONSTANT = 10598, -5306, 16569
"""Coefficients of the first estimate of a reciprocal (Hexagon NN, V60 and V62)."""


@inlined
def _halfword_product(a: int, b: int) -> int:
    """Return (2 * a * b + 2^15) >> 16 of int64 numbers."""
    return (np.int64(2) * a * b + np.int64(1 << 15)) >> np.int64(16)  # type: ignore[return-value]


@kernel("void(uint8[:,::1],int32[:,::1],int64,uint8[:,::1],int64,int64)")
def softmax_of_bytes(
    x: Codes, tables: Int32, sum_bits: int, out: Codes, first: int, last: int
) -> None:
    """Write the codes of rows `first` to `last` - 1 of `x`, (rows, codes of a row).

    `tables` are powers and shares, (2, 256).
    """
    powers, shares = tables[0], tables[1]
    for row in range(first, last):
        largest = np.int64(x[row, 0])
        for k in range(x.shape[1]):
            largest = max(largest, np.int64(x[row, k]))
        total = np.int64(0)
        for k in range(x.shape[1]):
            total += powers[largest - np.int64(x[row, k])]
        right = np.int64(15) + sum_bits
        while total < _HALF_LIMIT:
            total <<= np.int64(1)
            right -= np.int64(1)
        divisor = total >> np.int64(16)
        centred = np.int64(2) * divisor - np.int64(1 << 16)
        estimate = _halfword_product(centred, np.int64(_SQUARE)) + _LINEAR
        reciprocal = _halfword_product(centred, estimate) + _CONSTANT
        for _ in range(2):
            error = np.int64(2) * (_halfword_product(divisor, reciprocal) - _HALF)
            reciprocal -= _halfword_product(error, reciprocal)
            reciprocal = min(reciprocal, np.int64(_S16_LIMIT))
        factor = _halfword_product(reciprocal, np.int64(_FULL))
        for k in range(x.shape[1]):
            share = np.int64(shares[largest - np.int64(x[row, k])])
            unit = min((share * factor) >> right, np.int64(_S16_LIMIT))
            out[row, k] = np.uint8(min((unit + 32) >> np.int64(6), 255))


@unpacked
def softmax(call: LoweredSoftmax, at: Buffers) -> Steps:
    """A softmax with one division per code."""
    x, rows, before, after = rows_along(call.axes, at.inputs[0], at.output, at.workspace)
    zero_point, most = call.output.zero_point, call.output.encoding.steps
    codes = ProbabilityCodes(call.scale, call.scale_bits, zero_point, most)
    arguments = (x, call.exponentials, codes, rows, *ROWS)
    return [*before, Step(_softmax(x.dtype), arguments, len(rows)), *after]


@unpacked
def softmax_8bit(call: LoweredByteSoftmax, at: Buffers) -> Steps:
    """A softmax with one reciprocal per row."""
    x, rows, before, after = rows_along(call.axes, at.inputs[0], at.output, at.workspace)
    tables = np.stack([call.powers, call.shares])
    arguments = (x, tables, call.sum_bits, rows, *ROWS)
    return [*before, Step(softmax_of_bytes, arguments, len(rows)), *after]


@template("void({0}[:,::1],int32[::1],ProbabilityCodes,{0}[:,::1],int64,int64)")
def _softmax(
    x: Codes, exponentials: Int32, codes: ProbabilityCodes, out: Codes, first: int, last: int
) -> None:
    for row in range(first, last):
        largest = x[row, 0]
        for k in range(x.shape[1]):
            largest = max(largest, x[row, k])
        total = np.int64(0)
        for k in range(x.shape[1]):
            total += exponentials[np.int64(largest) - np.int64(x[row, k])]
        divisor = total << np.int64(codes.scale_bits)
        for k in range(x.shape[1]):
            share = np.int64(exponentials[np.int64(largest) - np.int64(x[row, k])]) * codes.scale
            code = codes.zero_point + (2 * share + divisor) // (2 * divisor)
            out[row, k] = min(max(code, 0), codes.most)  # type: ignore[assignment]


PREPARERS: Preparers = {
    LoweredNormalization: normalized,
    LoweredByteSoftmax: softmax_8bit,
    LoweredSoftmax: softmax,
}
