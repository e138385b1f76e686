"""Headroom: bias, output zero point and products fit the accumulator together.

A channel of weights may come with a step so small that its bias, counted in steps of the
accumulator, exceeds an int32: exporters write 2^-23 for a channel of zeros. Its weights are then
quantised again with the least step that fits; the encoding in the file stays. Sums of computed
operands cannot be quantised again: their multiplier is raised if that adds half a code at most, or
every code is that of zero, or the layer is refused. docs/reference/arithmetic.md states the rule
and its error bound ("Steps that are too small").
"""

import math
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from hexsim.errors import HexsimError
from hexsim.layers import NO_CLAMP, Clamp
from hexsim.lowering.lowered_call import Int64, Operand, Real
from hexsim.lowering.requantize import INT32_MAX, Requantize, requantize, rounded, shifts
from hexsim.lowering.source import Weights
from hexsim.quantization.encodings import Encoding


def fitting_steps(
    steps: Real,
    sums: npt.ArrayLike,
    output: Encoding,
    bias: Real | None,
    fraction_bits: int,
    shift: int = 0,
) -> Real:
    """Return accumulator steps; those that are too small are replaced by the least that fit.

    `sums` is the largest sum of products in units of the accumulator, `bias` in real units; both
    have one entry for each of `steps`, or one in all. `shift` is that which all steps share.
    """
    reach = np.full(steps.shape, float(output.zero_point))
    if bias is not None:
        reach += np.abs(bias) / output.delta
    bits = 31 - shift + fraction_bits
    largest = np.ldexp(1.0, bits) - np.ldexp(1.0, fraction_bits)
    room = largest - np.minimum(np.asarray(sums, np.float64), np.ldexp(1.0, bits - 1)) - 1
    least = np.clip(np.ceil(reach * np.ldexp(1.0, bits) / room), 1, INT32_MAX)
    fitting = least * np.ldexp(output.delta, -bits)
    return np.where(steps < fitting, fitting, steps)


def fitting_weights(
    weights: Weights, x: Operand, output: Encoding, bias: Real | None, fraction_bits: int
) -> Weights:
    """Return the weights that multiply `x`; channels are quantised again where that is needed."""
    steps = x.delta * weights.steps
    shift = 0 if fraction_bits else int(shifts(steps / output.delta, one_shift=True).max(initial=0))
    safe_steps = fitting_steps(steps, np.inf, output, bias, fraction_bits, shift)
    (doubtful,) = np.nonzero(safe_steps > steps)
    if not doubtful.size:
        return weights
    sums = largest_distance(x) * np.abs(_distances(weights, doubtful)).sum(axis=0)
    channel_bias = None if bias is None else bias[doubtful]
    fitting = fitting_steps(steps[doubtful], sums, output, channel_bias, fraction_bits, shift)
    grows = fitting > steps[doubtful]
    channels, fitting = doubtful[grows], fitting[grows]
    if not channels.size:
        return weights
    distances = rounded(_distances(weights, channels) * (steps[channels] / fitting))
    codes, new_steps = weights.codes.copy(), weights.steps.copy()
    codes.reshape(-1, codes.shape[-1])[:, channels] = distances + weights.zero_point
    new_steps[channels] = fitting / x.delta
    return Weights(codes, weights.zero_point, new_steps)


def _distances(weights: Weights, channels: npt.NDArray[np.intp]) -> Int64:
    """Return the codes of some channels, counted from zero, as (taps, channels)."""
    rows = weights.codes.reshape(-1, weights.codes.shape[-1])[:, channels]
    return rows.astype(np.int64) - weights.zero_point


def fitting_factor(
    factors: tuple[Operand, ...], count: int, scale: float, output: Encoding, fraction_bits: int
) -> tuple[Operand, ...]:
    """Return the factors of `count` products that are added, one quantised again if needed.

    `scale` multiplies the sum. Only a constant can be quantised again; computed factors are
    returned as they are.
    """
    constants = [position for position, factor in enumerate(factors) if factor.codes is not None]
    step = scale * math.prod(factor.delta for factor in factors)
    sums = count * math.prod(largest_distance(factor) for factor in factors)
    (fitting,) = fitting_steps(np.array([step]), sums, output, None, fraction_bits)
    if not constants or fitting == step:
        return factors
    position = constants[0]
    others = scale * math.prod(
        factor.delta for number, factor in enumerate(factors) if number != position
    )
    replacement = _with_step(factors[position], fitting / others)
    return (*factors[:position], replacement, *factors[position + 1 :])


def largest_distance(x: Operand) -> int:
    """Return the largest distance of a code of `x` from zero."""
    return max(x.zero_point, x.encoding.steps - x.zero_point)


def _with_step(constant: Operand, delta: float) -> Operand:
    assert constant.codes is not None
    encoding, zero_point = constant.encoding, constant.zero_point
    distances = constant.codes.astype(np.float64) - zero_point
    codes = rounded(distances * (constant.delta / delta)) + zero_point
    limits = -delta * zero_point, delta * (encoding.steps - zero_point)
    new_encoding = replace(encoding, min=limits[0], max=limits[1], delta=delta)
    return replace(constant, codes=codes.astype(encoding.dtype), encoding=new_encoding)


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
