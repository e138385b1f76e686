"""Softmax: tables of exponentials, an integer sum, then a division or a 16-bit reciprocal.

Rows of a softmax of 8-bit codes, as Hexagon NN computes them (hexsim.lowering.softmax).

With S the sum of the powers of a row, and h(a, b) = (2 * a * b + 2^15) >> 16:

    v      = the largest shift with S << v < 2^31,  d = (S << v) >> 16          2^14 .. 2^15 - 1
    y      = h(2d - 2^16, h(2d - 2^16, 10598) - 5306) + 16569
    twice:   y = min(y - h(2 * (h(d, y) - 2^14), y), 32767)                     2^29 / d
    R      = h(y, 255 * 128)
    U      = min((share * R) >> (15 + a - v), 32767)           units of 1 / (64 * 255)
    code   = min((U + 32) >> 6, 255)
"""

import numpy as np

from hexsim.int8.machine_code.jit import inlined, kernel, template
from hexsim.int8.pointwise.strided_copy import rows_along
from hexsim.int8.step import FIRST, LAST, Inputs, Out, Preparers, Step, Steps, Workspace, unpacked
from hexsim.lowering.lowered_call import Codes, Int32
from hexsim.lowering.softmax import SCALE_BITS, LoweredByteSoftmax, LoweredSoftmax

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
    x: Codes,
    tables: Int32,
    sum_bits: int,
    out: Codes,
    first: int,
    last: int,
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
def softmax(call: LoweredSoftmax, inputs: Inputs, output: Out, workspace: Workspace) -> Steps:
    """A softmax with one division per code."""
    x, rows, before, after = rows_along(call.axes, inputs[0], output, workspace)
    zero_point, most = call.output.zero_point, call.output.encoding.steps
    arguments = (x, call.exponentials, call.scale, zero_point, most, rows, FIRST, LAST)
    return [*before, Step(_softmax(x.dtype), arguments, len(rows)), *after]


@unpacked
def softmax_8bit(
    call: LoweredByteSoftmax, inputs: Inputs, output: Out, workspace: Workspace
) -> Steps:
    """A softmax with one reciprocal per row."""
    x, rows, before, after = rows_along(call.axes, inputs[0], output, workspace)
    tables = np.stack([call.powers, call.shares])
    arguments = (x, tables, call.sum_bits, rows, FIRST, LAST)
    return [*before, Step(softmax_of_bytes, arguments, len(rows)), *after]


@template("void({0}[:,::1],int32[::1],int64,int64,int64,{0}[:,::1],int64,int64)")
def _softmax(
    x: Codes,
    exponentials: Int32,
    scale: int,
    zero_point: int,
    most: int,
    out: Codes,
    first: int,
    last: int,
) -> None:
    for row in range(first, last):
        largest = x[row, 0]
        for k in range(x.shape[1]):
            largest = max(largest, x[row, k])
        total = np.int64(0)
        for k in range(x.shape[1]):
            total += exponentials[np.int64(largest) - np.int64(x[row, k])]
        divisor = total << np.int64(SCALE_BITS)
        for k in range(x.shape[1]):
            share = np.int64(exponentials[np.int64(largest) - np.int64(x[row, k])]) * scale
            code = zero_point + (2 * share + divisor) // (2 * divisor)
            out[row, k] = min(max(code, 0), most)  # type: ignore[assignment]


PREPARERS: Preparers = {LoweredByteSoftmax: softmax_8bit, LoweredSoftmax: softmax}
