"""Positions of extremes along one axis; numbers along later axes are searched side by side."""

import math

import numpy as np

from hexsim.int8.machine_code.jit import template
from hexsim.int8.prepared import Inputs, Out, Preparers, Steps, unpacked
from hexsim.int8.step import FIRST, LAST, Scratch, Step, Workspace
from hexsim.lowering.arg_extremum import LoweredArgExtremum
from hexsim.lowering.lowered_call import Codes, Int32


@unpacked
def arg_extremum(
    call: LoweredArgExtremum, inputs: Inputs, output: Out, workspace: Workspace
) -> Steps:
    """The position of the first largest or smallest code."""
    largest = call.kind == "max"
    shape, axis = inputs[0].shape, call.axis
    outer, inner = math.prod(shape[:axis]), math.prod(shape[axis + 1 :])
    arguments = (
        inputs[0].reshape(outer, shape[axis], inner), call.codes, largest,
        output.reshape(outer, inner), FIRST, LAST,
        Scratch(inner, output.dtype), Scratch(inner, np.int32),
    )  # fmt: skip
    return [Step(_places(output.dtype), arguments, outer)]


@template("void({0}[:,:,::1],{0}[::1],int64,{0}[:,::1],int64,int64,{0}[::1],int32[::1])")
def _places(
    x: Codes,
    codes: Codes,
    largest: int,
    out: Out,
    first: int,
    last: int,
    best: Codes,
    places: Int32,
) -> None:
    for row in range(first, last):
        block = x[row]
        for c in range(best.size):
            best[c] = block[0, c]
            places[c] = 0
        for k in range(1, block.shape[0]):
            position = block[k]
            for c in range(best.size):
                code = position[c]
                better = code > best[c] if largest else code < best[c]
                if better:
                    best[c] = code
                    places[c] = k
        for c in range(best.size):
            out[row, c] = codes[places[c]]


PREPARERS: Preparers = {LoweredArgExtremum: arg_extremum}
