"""LocalResponseNorm: sums of squares over a window of channels and an interpolated power.

A pixel goes through short loops over its channels, each of which LLVM turns into vectors; only the
two table lookups go channel by channel.
"""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from hexsim.int8.machine_code.jit import template
from hexsim.int8.machine_code.record import record
from hexsim.int8.pointwise.window_sums import exponent, sum_squares
from hexsim.int8.prepared import Inputs, Out, Preparers, Steps, unpacked
from hexsim.int8.requantize.constants import RequantizeStage, one_stage
from hexsim.int8.requantize.run import requantize_run
from hexsim.int8.step import FIRST, LAST, Scratch, Step, Workspace
from hexsim.lowering.local_response_norm import OCTAVE_BITS, LoweredLocalResponseNorm
from hexsim.lowering.lowered_call import Codes, Int32, Int64


@record("int32,int64,int32[::1],RequantizeStage")
class Norm(NamedTuple):
    """Zero point and channels of the window, powers at the knots, and the requantise stage."""

    zero_point: int
    size: int
    powers: Int32
    stage: RequantizeStage


@record("int32[::1],int32[::1],int32[::1],int32[::1],int32[::1]")
class Lines(NamedTuple):
    """Scratch for the channels of a pixel; squares have a window's neighbours on both sides."""

    squares: Any
    sums: Any
    bits: Any
    knots: Any
    power: Any


@unpacked
def local_response_norm(
    call: LoweredLocalResponseNorm, inputs: Inputs, output: Out, workspace: Workspace
) -> Steps:
    """Normalisation across the channels around each channel."""
    zero_point = call.inputs[0].zero_point
    slopes = _slopes(call.powers)
    channels, stage = output.shape[-1], call.stage
    pixels = output.reshape(-1, channels)
    row = Scratch(channels, np.int32)
    norm = Norm(zero_point, call.size, call.powers, one_stage(stage))
    lines = Lines(Scratch(channels + call.size - 1, np.int32), row, row, row, row)
    arguments = (
        inputs[0].reshape(-1, channels), norm, slopes, pixels, FIRST, LAST, lines,
        Scratch(channels, slopes.dtype),
    )  # fmt: skip
    return [Step(_local_response_norm(slopes.dtype), arguments, len(pixels))]


def _slopes(powers: Int32) -> npt.NDArray[np.signedinteger[Any]]:
    """Return the rise from each knot to the next; int32 if that holds every product, else int64."""
    slopes: Int64 = powers[1:].astype(np.int64) - powers[:-1]
    octave = np.maximum(np.arange(slopes.size) // (1 << OCTAVE_BITS) - 1, 0)
    fits = bool(np.all((np.abs(slopes) + 1) << octave < 1 << 31))
    return slopes.astype(np.int32) if fits else slopes


@template("void(uint8[:,::1],Norm,{0}[::1],uint8[:,::1],int64,int64,Lines,{0}[::1])")
def _local_response_norm(
    x: Codes,
    norm: Norm,
    slopes: Int32,
    out: Codes,
    first: int,
    last: int,
    lines: Lines,
    slope: Int32,
) -> None:
    zero_point, size, powers, stage = norm.zero_point, norm.size, norm.powers, norm.stage
    squares, sums, bits = lines.squares, lines.sums, lines.bits
    knots, power = lines.knots, lines.power
    wide = slopes.dtype.type
    channels = x.shape[1]
    squares[:] = 0
    for pixel in range(first, last):
        row = x[pixel]
        sum_squares(row, zero_point, size, squares, sums)
        for c in range(channels):
            octave = max(np.int32(exponent(sums[c]) - np.int32(OCTAVE_BITS)), np.int32(0))
            bits[c] = octave
            knots[c] = np.int32(np.int32(octave << np.int32(OCTAVE_BITS)) + (sums[c] >> octave))
        for c in range(channels):
            power[c] = powers[np.uint32(knots[c])]
            slope[c] = slopes[np.uint32(knots[c])]
        for c in range(channels):
            step = np.int32(np.int32(1) << bits[c])
            rest = np.int32(sums[c] & np.int32(step - np.int32(1)))
            rise = wide(wide(slope[c] * wide(rest)) + wide(step >> np.int32(1)))
            factor = np.int32(power[c] + np.int32(rise >> wide(bits[c])))
            distance = np.int32(np.int32(row[c]) - zero_point)
            sums[c] = np.int32(np.int32(distance * factor) + stage.preload)
        requantize_run(sums, stage, out[pixel])


PREPARERS: Preparers = {LoweredLocalResponseNorm: local_response_norm}
