"""Softmax: tables of exponentials, an integer sum, then a division or a 16-bit reciprocal."""

import numpy as np

from hexsim.int8.machine_code.jit import template
from hexsim.int8.pointwise.softmax_of_bytes import softmax_of_bytes
from hexsim.int8.pointwise.strided_copy import rows_along
from hexsim.int8.prepared import Inputs, Out, Preparers, Steps, unpacked
from hexsim.int8.step import FIRST, LAST, Step, Workspace
from hexsim.lowering.lowered_call import Codes, Int32
from hexsim.lowering.softmax import SCALE_BITS, LoweredSoftmax
from hexsim.lowering.softmax_of_bytes import LoweredByteSoftmax


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
