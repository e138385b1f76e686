"""Sums of computed operands, which cannot be quantised again to fit the accumulator.

With S the largest sum in units of the accumulator, and the step of the accumulator so small beside
the output's that z_y / M exceeds an int32 (hexsim.lowering.headroom has `least`):

    S * least * 2^(-31 - F) <= 1/2    the multiplier is `least`: sums are scaled by too much,
                                      by half a code at most
    else S * M / 2^F <= 1/2           every code is that of zero, exact to half a code
    else                              the layer is refused
"""

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from hexsim.errors import HexsimError
from hexsim.layers import NO_CLAMP, Clamp
from hexsim.lowering.headroom import fitting_steps
from hexsim.lowering.requantize import Requantize, requantize
from hexsim.quantization.encodings import Encoding

_HALF_A_CODE = 0.5


def requantize_sums(
    layer: str,
    steps: npt.ArrayLike,
    largest: npt.ArrayLike,
    output: Encoding,
    clamp: Clamp = NO_CLAMP,
    fraction_bits: int = 0,
) -> Requantize:
    """Return the constants for accumulators of `steps` real units and sums of at most `largest`.

    Raises HexsimError naming the layer if its output is too coarse for its sums.
    """
    step = np.atleast_1d(np.asarray(steps, np.float64))
    if not (
        output.zero_point and (fitting_steps(step, 0, output, None, fraction_bits) > step).any()
    ):
        return requantize(step, output, clamp, fraction_bits=fraction_bits)
    fitting = fitting_steps(step, largest, output, None, fraction_bits)
    stage = requantize(fitting, output, clamp, fraction_bits=fraction_bits)
    reach = np.asarray(largest, np.float64) / output.delta
    if ((fitting == step) | (reach * fitting <= _HALF_A_CODE)).all():
        return stage
    if (reach * step <= _HALF_A_CODE).all():
        code = min(max(output.zero_point, stage.low), stage.high)
        return replace(stage, low=code, high=code)
    raise HexsimError(
        f"layer '{layer}': its output has steps of {output.delta:g}, too coarse for sums in steps "
        f"of {step.min():g}; give the output a narrower range, or run the layer on the cpu"
    )
