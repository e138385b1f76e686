"""How kernels requantise rows of channels (`inner_loops.requantize_rows`)."""

from typing import NamedTuple

from hexsim.int8.machine_code.inner_loops.requantize_rows import FLOATS, PLAIN, SHIFTED
from hexsim.int8.requantize.factors import factor_bits
from hexsim.lowering.lowered_call import Int32
from hexsim.lowering.requantize import Requantize


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
