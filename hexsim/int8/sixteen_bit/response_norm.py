"""LocalResponseNorm of 16-bit codes: the rule of the 8-bit one, in 64 bits and whole arrays."""

from functools import partial

import numpy as np

from hexsim.int8.prepared import Inputs, Out, Preparers, Steps, unpacked
from hexsim.int8.sixteen_bit.by_bytes import Stage16
from hexsim.int8.step import Workspace
from hexsim.lowering.local_response_norm import OCTAVE_BITS, LoweredLocalResponseNorm
from hexsim.lowering.lowered_call import Codes, Int64


@unpacked
def response_norm(
    call: LoweredLocalResponseNorm, inputs: Inputs, output: Out, workspace: Workspace
) -> Steps:
    """Normalisation across the channels around each channel."""
    return [partial(_normalize, call, Stage16(call, [0]), inputs[0], output)]


def _normalize(call: LoweredLocalResponseNorm, finish: Stage16, codes: Codes, output: Out) -> None:
    distance = codes.astype(np.int64) - call.inputs[0].zero_point
    size = call.size
    behind = (size - 1) // 2
    padding = [(0, 0)] * (distance.ndim - 1)
    padding.append((behind + 1, size - 1 - behind))
    running = np.cumsum(np.pad(distance * distance, padding), axis=-1)
    squares = running[..., size:] - running[..., :-size]
    finish((distance * _power(call.powers.astype(np.int64), squares))[np.newaxis], output)


def _power(powers: Int64, squares: Int64) -> Int64:
    """Interpolate the table of powers at sums of squares, any shape."""
    _, octave = np.frexp(squares.astype(np.float64))  # exact: sums have fewer than 53 bits
    bits = np.maximum(octave.astype(np.int64) - 1 - OCTAVE_BITS, 0)
    knot = (bits << OCTAVE_BITS) + (squares >> bits)
    rest = squares & ((np.int64(1) << bits) - 1)
    half = (np.int64(1) << bits) >> 1
    below = powers[knot]
    power: Int64 = below + (((powers[knot + 1] - below) * rest + half) >> bits)
    return power


PREPARERS_16BIT: Preparers = {LoweredLocalResponseNorm: response_norm}
