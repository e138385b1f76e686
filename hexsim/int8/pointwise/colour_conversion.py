"""Colour conversions: bytes in another order, and NV21 in 32-bit sums."""

import math

import numpy as np

from hexsim.int8.machine_code.jit import kernel
from hexsim.int8.pointwise.movement import through
from hexsim.int8.pointwise.strided_copy import copy
from hexsim.int8.prepared import Inputs, Out, Preparers, Steps, unpacked
from hexsim.int8.step import FIRST, LAST, Step, Work, Workspace
from hexsim.layers.colour_conversion import YVU_ORIGIN
from hexsim.lowering.colour_conversion import MATRIX_BITS, LoweredChannelPick, LoweredNv21
from hexsim.lowering.lowered_call import Codes, Int32


@unpacked
def channel_pick(
    call: LoweredChannelPick, inputs: Inputs, output: Out, workspace: Workspace
) -> Steps:
    """Channels in another order, some left out."""
    work: list[Work] = [
        copy(inputs[0][..., channel], output[..., place])
        for place, channel in enumerate(call.channels)
    ]
    return [*work, *through(call.table, output)]


@unpacked
def nv21(call: LoweredNv21, inputs: Inputs, output: Out, workspace: Workspace) -> Steps:
    """One plane of luma and interleaved chroma to pixels of three channels."""
    origin = np.array(YVU_ORIGIN, np.int32)
    arguments = (inputs[0][..., 0], call.matrix, origin, output, FIRST, LAST)
    step = Step(_nv21, arguments, math.prod(output.shape[:2]))
    return [step, *through(call.table, output)]


@kernel("void(uint8[:,:,:],int32[:,::1],int32[::1],uint8[:,:,:,::1],int64,int64)")
def _nv21(planes: Codes, matrix: Int32, origin: Int32, out: Codes, first: int, last: int) -> None:
    height = out.shape[1]
    for row_of_all in range(first, last):
        n = row_of_all // height
        row = row_of_all - n * height
        luma, chroma = planes[n, row], planes[n, height + row // 2]
        for column in range(out.shape[2]):
            pair = column // 2 * 2
            y = np.int32(luma[column]) - origin[0]
            v = np.int32(chroma[pair]) - origin[1]
            u = np.int32(chroma[pair + 1]) - origin[2]
            for colour in range(3):
                total = matrix[0, colour] * y + matrix[1, colour] * v + matrix[2, colour] * u
                code = (total + (1 << (MATRIX_BITS - 1))) >> MATRIX_BITS
                out[n, row, column, colour] = min(max(code, 0), 255)


PREPARERS: Preparers = {LoweredChannelPick: channel_pick, LoweredNv21: nv21}
