"""Sum, difference and product of two 8-bit operands (hexsim.lowering.pairs)."""

import numpy as np

from hexsim.int8.machine_code.jit import kernel
from hexsim.int8.pointwise.operands import CHUNK, Spread, chunk, spread
from hexsim.int8.prepared import Inputs, Out, Preparers, Steps, unpacked
from hexsim.int8.step import FIRST, LAST, Step, Workspace
from hexsim.lowering.lowered_call import Codes, Int32
from hexsim.lowering.pairs import LoweredPairProduct, LoweredPairSum


@unpacked
def pair_sum(call: LoweredPairSum, inputs: Inputs, output: Out, workspace: Workspace) -> Steps:
    """Sum or difference of two operands.

    Two shifts with a constant between them are one shift of a larger constant. The saturation to
    16 bits between them changes no code: the last shift is of 7 bits at most, so what saturates
    lies beyond the codes.
    """
    start = (call.offset + (1 << call.shift >> 1)) << call.cut
    places = call.cut + call.shift
    constants = np.array([*call.factors, start, places, call.low, call.high], np.int32)
    arguments = (*spread(inputs, output), constants, output.reshape(-1), FIRST, LAST)
    return [Step(_sum, arguments, output.size, grain=CHUNK)]


@unpacked
def pair_product(
    call: LoweredPairProduct, inputs: Inputs, output: Out, workspace: Workspace
) -> Steps:
    """Product of two operands."""
    zero_points = [x.zero_point for x in call.inputs]
    limits = (call.offset, call.shift, call.low, call.high)
    constants = np.array([*zero_points, call.centre, call.factor, *limits], np.int32)
    arguments = (*spread(inputs, output), constants, output.reshape(-1), FIRST, LAST)
    return [Step(_product, arguments, output.size, grain=CHUNK)]


@kernel("void(Spread,uint8[::1],int32[::1],uint8[::1],int64,int64)")
def _sum(
    operands: Spread, scratch: Codes, constants: Int32, out: Codes, first: int, last: int
) -> None:
    factor_a, factor_b, start = constants[0], constants[1], constants[2]
    places = constants[3] & np.int32(31)  # so that it is a shift of 32-bit lanes
    low, high = constants[4], constants[5]
    for at in range(first, last, CHUNK):
        end = min(at + CHUNK, last)
        a = chunk(operands, scratch[:CHUNK], 0, at, end)
        b = chunk(operands, scratch[CHUNK:], 1, at, end)
        part = out[at:end]
        for k in range(part.size):
            total = np.int32(
                np.int32(factor_a * np.int32(a[k])) + np.int32(factor_b * np.int32(b[k]))
            )
            code = np.int32(np.int32(total + start) >> places)
            part[k] = min(max(code, low), high)


@kernel("void(Spread,uint8[::1],int32[::1],uint8[::1],int64,int64)")
def _product(
    operands: Spread, scratch: Codes, constants: Int32, out: Codes, first: int, last: int
) -> None:
    zero_a, zero_b, centre, factor = constants[0], constants[1], constants[2], constants[3]
    offset, shift, low, high = constants[4], constants[5], constants[6], constants[7]
    shift = shift & np.int32(31)  # so that it is a shift of 32-bit lanes
    half = np.int32(np.int32(1) << shift >> np.int32(1))
    for at in range(first, last, CHUNK):
        end = min(at + CHUNK, last)
        a = chunk(operands, scratch[:CHUNK], 0, at, end)
        b = chunk(operands, scratch[CHUNK:], 1, at, end)
        part = out[at:end]
        for k in range(part.size):
            distances = np.int32(np.int32(a[k]) - zero_a) * np.int32(np.int32(b[k]) - zero_b)
            scaled = np.int32(np.int32(np.int32(distances) - centre) * factor)
            fine = np.int32(np.int32(np.int32(scaled + np.int32(1 << 14)) >> np.int32(15)) + offset)
            fine = min(max(fine, np.int32(-32768)), np.int32(32767))
            code = np.int32(np.int32(fine + half) >> shift)
            part[k] = min(max(code, low), high)


PREPARERS: Preparers = {
    LoweredPairProduct: pair_product,
    LoweredPairSum: pair_sum,
}
