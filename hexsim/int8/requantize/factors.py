"""Requantise stages that one rounding of a float computes exactly.

A code is sum * M rounded, M = multiplier / 2^31. A fused multiply-add of floats rounds once: with
1.5 * 2^23 added, where floats are whole numbers, it rounds sum * factor to an integer, and nothing
before that. So codes are the same if no sum lies between a tie of sum * M and one of sum * factor.
Both rise with the sum. So it is enough to compare two sums for each code: the least sum that has
the code, and the one below.

A scale below 2^-7 has a multiplier of 24 bits, as many as a float has; its factor is M, and only
ties can differ: here they go up, those of floats to even. A larger M is rounded to a factor, which
is not exact for up to one multiplier in twenty; then one of the two floats beside it nearly always
is.
"""

import numpy as np
import numpy.typing as npt

from hexsim.int8.machine_code.features import has_fused_floats
from hexsim.lowering.lowered_call import Int32, Int64
from hexsim.lowering.requantize import Requantize

Float32 = npt.NDArray[np.float32]

_ONE = 1 << 31
"""The multiplier of a scale of one."""
_FLOAT_BITS = 24
"""Bits of a float's significand: integers below 2^24 are floats."""
_CODES_AT_FIRST = 256


def float_factors(stage: Requantize) -> Float32 | None:
    """Return the factor of each entry of `stage`, or None if an entry has none that is exact.

    A factor is exact if clamp(fma(sum, factor, 1.5 * 2^23) - 1.5 * 2^23, low, high) is the code of
    every int32 sum that includes the preload.
    """
    if stage.fraction_bits or stage.shift.any():
        return None
    multipliers, places = np.unique(stage.multiplier.astype(np.int64), return_inverse=True)
    codes = np.arange(stage.low + 1, stage.high + 1, dtype=np.int64)
    if (_least_sums(codes, multipliers[:1]) >= 1 << _FLOAT_BITS).any():
        return None
    factors = (multipliers / _ONE).astype(np.float32)
    remaining = np.flatnonzero(~_are_floats_without_ties(multipliers))
    for direction in (0, 2, -2):
        candidates = (
            np.nextafter(factors, np.float32(direction))[remaining]
            if direction
            else factors[remaining]
        )
        exact = _agree(candidates, multipliers[remaining], codes)
        factors[remaining[exact]] = candidates[exact]
        remaining = remaining[~exact]
        if not remaining.size:
            return factors[places]
    return None


def factor_bits(stage: Requantize) -> Int32 | None:
    """Return the same factors as bits, for kernels; None also if the CPU rounds twice."""
    factors = float_factors(stage) if has_fused_floats() else None
    return None if factors is None else factors.view(np.int32)


def _least_sums(codes: Int64, multipliers: Int64) -> Int64:
    """Return the least sum that has each code, (codes, multipliers)."""
    ties = codes.reshape(-1, 1) * _ONE - _ONE // 2
    least: Int64 = -(-ties // multipliers)
    return least


def _are_floats_without_ties(multipliers: Int64) -> npt.NDArray[np.bool_]:
    """Return where a tie would take a sum of 2^24 or more: a multiple of 2^30 has to divide it."""
    zeros_allowed = 30 - _FLOAT_BITS
    even = multipliers % (2 << zeros_allowed) == 0
    result: npt.NDArray[np.bool_] = (multipliers < 1 << _FLOAT_BITS) & ~even
    return result


def _agree(factors: Float32, multipliers: Int64, codes: Int64) -> npt.NDArray[np.bool_]:
    """Return where a factor gives each code to the least sum that has it, not to the one below.

    The largest codes are tried first, then twice as many each time: there the error of a factor is
    largest, so that of 65 536 codes few are tried with a factor that does not agree.
    """
    agreeing = np.ones(factors.size, np.bool_)
    part, remaining = _CODES_AT_FIRST, codes
    while remaining.size and agreeing.any():
        tried = remaining[-part:]
        agreeing[agreeing] = _agree_on(factors[agreeing], multipliers[agreeing], tried)
        part, remaining = 2 * part, remaining[:-part]
    return agreeing


def _agree_on(factors: Float32, multipliers: Int64, codes: Int64) -> npt.NDArray[np.bool_]:
    """Return the same for a part of the codes.

    factor = significand / unit, both integers, so all is compared in integers.
    """
    significand, exponent = np.frexp(factors.astype(np.float64))
    significands = np.ldexp(significand, _FLOAT_BITS).astype(np.int64)
    units = np.int64(1) << (_FLOAT_BITS - exponent.astype(np.int64))
    ties = (2 * codes.reshape(-1, 1) - 1) * units
    goes_up = (codes % 2 == 0).reshape(-1, 1)  # a tie of floats below an even code

    def has_code(sums: Int64) -> npt.NDArray[np.bool_]:
        beyond = 2 * sums * significands - ties
        result: npt.NDArray[np.bool_] = np.where(goes_up, beyond >= 0, beyond > 0)
        return result

    least = _least_sums(codes, multipliers)
    return np.asarray((has_code(least) & ~has_code(least - 1)).all(axis=0))
