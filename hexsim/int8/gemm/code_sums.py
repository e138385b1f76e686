"""The sum of the codes in each pixel's window, which the zero point of the weights multiplies.

Only weights that are asymmetric where they are multiplied have one (`gemm.panels`).
"""

import numpy as np

from hexsim.int8.gemm.arguments import Windows
from hexsim.int8.machine_code.inner_loops.code_sum import sum_of_codes
from hexsim.int8.machine_code.jit import kernel
from hexsim.lowering.lowered_call import Codes, Int32


@kernel("void(uint8[::1],Windows,int64,int32[:,::1],int64,int64)")
def add_codes(
    x: Codes, windows: Windows, weight_zero: int, addends: Int32, first: int, last: int
) -> None:
    """Set `addends` (groups, pixels) to the sums times -`weight_zero`, for some pixels."""
    x_at, starts, runs, run = x.ctypes.data, windows.starts, windows.offsets, windows.run
    for pixel in range(first, last):
        for group in range(addends.shape[0]):
            window = x_at + starts[pixel] + group * windows.group_channels
            total = 0
            for k in range(runs.size):
                total += sum_of_codes(window + runs[k], run)
            addends[group, pixel] = np.int32(-weight_zero * total)
