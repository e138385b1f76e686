"""The sum of the codes in each pixel's window, which the zero point of the weights multiplies.

Only weights that are asymmetric where they are multiplied have one (`products.panels`).
"""

from __future__ import annotations

import numpy as np

from hexsim.binding.call import Codes, Int32, Int64
from hexsim.int8.machine_code.inner_loops.code_sum import sum_of_codes
from hexsim.int8.machine_code.jit import kernel


@kernel("void(uint8[::1],int64[::1],int64[::1],int64,int64,int64,int32[:,::1],int64,int64)")
def add_codes(
    x: Codes,
    starts: Int64,
    runs: Int64,
    run: int,
    group_channels: int,
    weight_zero: int,
    addends: Int32,
    first: int,
    last: int,
) -> None:
    """Set `addends` (groups, pixels) to the sums times -`weight_zero`, for some pixels.

    A window is runs of `run` codes, which begin at the sum of its start and the run's entry.
    """
    x_at = x.ctypes.data
    for pixel in range(first, last):
        for group in range(addends.shape[0]):
            window = x_at + starts[pixel] + group * group_channels
            total = 0
            for k in range(runs.size):
                total += sum_of_codes(window + runs[k], run)
            addends[group, pixel] = np.int32(-weight_zero * total)
