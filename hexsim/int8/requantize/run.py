"""`requantize.scalar` on a run of sums that share their constants."""

import numpy as np

from hexsim.int8.machine_code.inner_loops.requantize_run import (
    WIDTH,
    requantize_sums_of_two,
    requantize_vectors,
)
from hexsim.int8.machine_code.jit import inlined
from hexsim.int8.requantize.constants import RequantizeStage
from hexsim.int8.requantize.scalar import requantize
from hexsim.lowering.lowered_call import Codes, Int32


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
