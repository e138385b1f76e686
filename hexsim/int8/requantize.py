"""Sums to codes, under docs/reference/arithmetic.md: one sum, rows of a tile, and runs.

Some stages one rounding of a float computes exactly. A code is sum * M rounded, M = multiplier /
2^31. A fused multiply-add of floats rounds once: with 1.5 * 2^23 added, where floats are whole
numbers, it rounds sum * factor to an integer, and nothing before that. So codes are the same if no
sum lies between a tie of sum * M and one of sum * factor. Both rise with the sum. So it is enough
to compare two sums for each code: the least sum that has the code, and the one below.

A scale below 2^-7 has a multiplier of 24 bits, as many as a float has; its factor is M, and only
ties can differ: here they go up, those of floats to even. A larger M is rounded to a factor, which
is not exact for up to one multiplier in twenty; then one of the two floats beside it nearly always
is.
"""

from functools import lru_cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from hexsim.int8.machine_code.arguments import record
from hexsim.int8.machine_code.features import has_fused_floats
from hexsim.int8.machine_code.inner_loops.requantize import (
    FLOATS,
    PLAIN,
    SHIFTED,
    WIDTH,
    requantize_sums_of_two,
    requantize_vectors,
)
from hexsim.int8.machine_code.jit import inlined
from hexsim.lowering.lowered_call import Codes, Int32, Int64
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
    return _float_factors(stage.multiplier.astype(np.int64).tobytes(), stage.low, stage.high)


@lru_cache(maxsize=1024)
def _float_factors(entries: bytes, low: int, high: int) -> Float32 | None:
    """Return the factors of int64 multipliers; runtimes have many layers of a model in common."""
    multipliers, places = np.unique(np.frombuffer(entries, np.int64), return_inverse=True)
    codes = np.arange(low + 1, high + 1, dtype=np.int64)
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


@record("int32,int32,int32,int32,int32,int32")
class RequantizeStage(NamedTuple):
    """One preload, multiplier and shift, the limits of codes, and the bits of the float factor.

    The bits are 0 if no factor is exact (`requantize`).
    """

    preload: int
    multiplier: int
    shift: int
    low: int
    high: int
    factor: int = 0


@record("int32[::1],int32[::1],int32[::1],int32,int32")
class RequantizeStages(NamedTuple):
    """Several preloads, multipliers and shifts, for instance of channels."""

    preload: Int32
    multiplier: Int32
    shift: Int32
    low: int
    high: int


@record("int64,int32,int32,int64,int64,int64")
class OneStage16(NamedTuple):
    """A requantise stage of accumulators with fraction bits."""

    preload: int
    multiplier: int
    shift: int
    fraction_bits: int
    low: int
    high: int


def one_stage(stage: Requantize, preload: int | None = None) -> RequantizeStage:
    """Return a requantise stage of one entry, with another preload if one is given."""
    start = int(stage.preload[0]) if preload is None else preload
    factors = factor_bits(stage)
    factor = 0 if factors is None else int(factors[0])
    return RequantizeStage(
        start, int(stage.multiplier[0]), int(stage.shift[0]), stage.low, stage.high, factor
    )


def all_stages(stage: Requantize) -> RequantizeStages:
    """Return the constants of all entries."""
    preload = stage.preload.astype(np.int32, copy=False)
    return RequantizeStages(preload, stage.multiplier, stage.shift, stage.low, stage.high)


def one_stage_16bit(stage: Requantize) -> OneStage16:
    """Return a requantise stage of one entry, with its fraction bits."""
    preload, multiplier, shift = (
        int(constants[0]) for constants in (stage.preload, stage.multiplier, stage.shift)
    )
    return OneStage16(preload, multiplier, shift, stage.fraction_bits, stage.low, stage.high)


class RowStage(NamedTuple):
    """A way of requantising, and its multipliers or the bits of its float factors."""

    way: int
    multiplier: Int32


def row_stage(stage: Requantize) -> RowStage:
    """Return the quickest way that is exact."""
    factors = factor_bits(stage)
    if factors is not None:
        return RowStage(FLOATS, factors)
    return RowStage(SHIFTED if stage.shift.any() else PLAIN, stage.multiplier)


@inlined
def requantize(accumulator: int, multiplier: int, shift: int, low: int, high: int) -> np.uint8:
    """Return the code of one accumulator; all int32, the result a u8 in low .. high.

    Saturation of the left shift is decided before shifting, in 32 bits, which vectorises better
    than a comparison in 64.
    """
    shifted = np.int32(accumulator << shift)
    if accumulator > np.int32(0x7FFFFFFF) >> shift:
        shifted = np.int32(0x7FFFFFFF)
    if accumulator < np.int32(-0x80000000) >> shift:
        shifted = np.int32(-0x80000000)
    product = np.int64(shifted) * np.int64(multiplier) + np.int64(1 << 30)
    code = np.int32(product >> np.int64(31))
    return np.uint8(min(max(code, low), high))  # type: ignore[arg-type]


@inlined
def requantize_16bit(
    accumulator: int, multiplier: int, shift: int, fraction_bits: int, low: int, high: int
) -> int:
    """Return the code of an int64 accumulator with fraction bits; the multiplier is int32."""
    integer = accumulator >> np.int64(fraction_bits)
    rest = np.int32(accumulator - (integer << np.int64(fraction_bits)))
    saturated = np.int32(min(max(integer, np.int64(-0x80000000)), np.int64(0x7FFFFFFF)))
    shifted = np.int32(saturated << shift)
    if saturated > np.int32(0x7FFFFFFF) >> shift:
        shifted = np.int32(0x7FFFFFFF)
    if saturated < np.int32(-0x80000000) >> shift:
        shifted = np.int32(-0x80000000)
    more = np.int64(rest) * np.int64(multiplier)
    right = np.int64(fraction_bits + 16 - shift)
    more = more >> max(right, np.int64(0)) << max(-right, np.int64(0))
    total = np.int64(shifted) * np.int64(multiplier) + (more << np.int64(16)) + np.int64(1 << 30)
    code = total >> np.int64(31)
    return min(max(code, low), high)  # type: ignore[return-value]


@inlined
def requantize_run(sums: Int32, stage: RequantizeStage, codes: Codes) -> None:
    """Write the codes of the first sums, preload included; `codes` says how many."""
    done = 0
    multiplier, shift, low, high = stage.multiplier, stage.shift, stage.low, stage.high
    if shift == 0:
        steps = codes.size // WIDTH
        requantize_vectors(
            steps, sums.ctypes.data, multiplier, low, high, stage.factor, codes.ctypes.data
        )
        done = steps * WIDTH
    for k in range(done, codes.size):
        codes[k] = requantize(sums[k], multiplier, shift, low, high)


@inlined
def requantize_sum(
    x: Codes, y: Codes, factor_x: int, factor_y: int, stage: RequantizeStage, codes: Codes
) -> None:
    """Write the codes of preload + factor_x * x + factor_y * y, all int32, without a shift."""
    steps = codes.size // WIDTH
    start, multiplier, low, high = stage.preload, stage.multiplier, stage.low, stage.high
    requantize_sums_of_two(
        steps, x.ctypes.data, y.ctypes.data, factor_x, factor_y, start, multiplier, low, high,
        stage.factor, codes.ctypes.data,
    )  # fmt: skip
    for k in range(steps * WIDTH, codes.size):
        both = np.int32(factor_x * np.int32(x[k])) + np.int32(factor_y * np.int32(y[k]))
        total = np.int32(both + start)
        codes[k] = requantize(total, multiplier, np.int32(0), low, high)
