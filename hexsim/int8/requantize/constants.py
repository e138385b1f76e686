"""The constants of requantise stages (hexsim.lowering.requantize) as kernels read them."""

from typing import NamedTuple

import numpy as np

from hexsim.int8.machine_code.inner_loops.requantize_rows import FLOATS, PLAIN, SHIFTED
from hexsim.int8.machine_code.record import record
from hexsim.int8.requantize.factors import factor_bits
from hexsim.lowering.lowered_call import Int32
from hexsim.lowering.requantize import Requantize


@record("int32,int32,int32,int32,int32,int32")
class RequantizeStage(NamedTuple):
    """One preload, multiplier and shift, the limits of codes, and the bits of the float factor.

    The bits are 0 if no factor is exact (`requantize.factors`).
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
