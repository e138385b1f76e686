"""Quotients of operands spread to the output's shape, in 64 bits."""

from typing import NamedTuple

import numpy as np

from hexsim.int8.machine_code.jit import template
from hexsim.int8.machine_code.record import record
from hexsim.int8.pointwise.operands import CHUNK, Spread, chunk, spread
from hexsim.int8.prepared import Inputs, Out, Preparers, Steps, unpacked
from hexsim.int8.step import FIRST, LAST, Step, Workspace
from hexsim.lowering.lowered_call import Codes
from hexsim.lowering.quotient import LoweredQuotient


@record("int64,int64,int64,int64,int64,int64,int64")
class Division(NamedTuple):
    """The zero points of both operands and of the result, and the constants of the call."""

    zero_x: int
    zero_w: int
    zero_out: int
    scale: int
    shift: int
    low: int
    high: int


@unpacked
def quotient(call: LoweredQuotient, inputs: Inputs, output: Out, workspace: Workspace) -> Steps:
    """One operand divided by another."""
    x, w = (operand.zero_point for operand in call.inputs)
    division = Division(x, w, call.output.zero_point, call.scale, call.shift, call.low, call.high)
    arguments = (*spread(inputs, output), division, output.reshape(-1), FIRST, LAST)
    return [Step(_quotient(output.dtype), arguments, output.size, grain=CHUNK)]


@template("void(Spread,{0}[::1],Division,{0}[::1],int64,int64)")
def _quotient(
    operands: Spread, scratch: Codes, division: Division, out: Codes, first: int, last: int
) -> None:
    for at in range(first, last, CHUNK):
        end = min(at + CHUNK, last)
        x = chunk(operands, scratch[:CHUNK], 0, at, end)
        w = chunk(operands, scratch[CHUNK:], 1, at, end)
        part = out[at:end]
        for k in range(part.size):
            n, d = np.int64(x[k]) - division.zero_x, np.int64(w[k]) - division.zero_w
            if d < 0:
                n, d = -n, -d
            code = np.int64(division.zero_out)
            if d > 0:
                unit = d << division.shift
                code += (2 * n * division.scale + unit) // (2 * unit)
            elif n > 0:
                code = np.int64(division.high)
            elif n < 0:
                code = np.int64(division.low)
            part[k] = min(max(code, division.low), division.high)  # type: ignore[assignment]


PREPARERS: Preparers = {LoweredQuotient: quotient}
