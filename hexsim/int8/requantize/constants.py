"""The constants of tails (hexsim.lowering.requantize) as kernels read them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hexsim.int8.machine_code.record import record
from hexsim.int8.requantize.factors import factor_bits
from hexsim.lowering.lowered_call import Int32
from hexsim.lowering.requantize import Requantize


@record("int32,int32,int32,int32,int32,int32")
class Tail(NamedTuple):
    """One preload, multiplier and shift, the limits of codes, and the bits of the float factor.

    They are 0 if there is no exact one (`requantize.factors`).
    """

    preload: int
    multiplier: int
    shift: int
    low: int
    high: int
    factor: int = 0


@record("int32[::1],int32[::1],int32[::1],int32,int32")
class Tails(NamedTuple):
    """Several preloads, multipliers and shifts, for instance of channels."""

    preload: Int32
    multiplier: Int32
    shift: Int32
    low: int
    high: int


@record("int64,int32,int32,int64,int64,int64")
class OneWideTail(NamedTuple):
    """A tail of accumulators with fraction bits."""

    preload: int
    multiplier: int
    shift: int
    fraction_bits: int
    low: int
    high: int


def one_tail(tail: Requantize, preload: int | None = None) -> Tail:
    """Return a tail of one entry, with another preload if one is given."""
    start = int(tail.preload[0]) if preload is None else preload
    factors = factor_bits(tail)
    factor = 0 if factors is None else int(factors[0])
    return Tail(start, int(tail.multiplier[0]), int(tail.shift[0]), tail.low, tail.high, factor)


def all_tails(tail: Requantize) -> Tails:
    """Return the constants of all entries."""
    preload = tail.preload.astype(np.int32, copy=False)
    return Tails(preload, tail.multiplier, tail.shift, tail.low, tail.high)


def one_wide_tail(tail: Requantize) -> OneWideTail:
    """Return a tail of one entry, with its fraction bits."""
    preload, multiplier, shift = (
        int(one[0]) for one in (tail.preload, tail.multiplier, tail.shift)
    )
    return OneWideTail(preload, multiplier, shift, tail.fraction_bits, tail.low, tail.high)
