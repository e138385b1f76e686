"""Which instruction stream runs for which window, filter or batch.

This connects the streams, which know instructions and packets but no layers, with the blocking
of this package, which computes costs from them. Every packet of a kernel model comes from here
or directly from `hexsim.hvx.streams`; schedules are cached per machine and shape class.
"""

from hexsim.hvx.isa import HvxMachine
from hexsim.hvx.streams import Kernel, convolution, images, matrices


def max_pool(machine: HvxMachine, kernel: tuple[int, int], strides: tuple[int, int]) -> Kernel:
    """Return the loop of one of three windows, or that of one vector per window element."""
    if kernel == (3, 3) and strides == (2, 2):
        return images.max_3x3_s2(machine)
    if kernel == (3, 3) and strides == (1, 1):
        return images.max_3x3_s1(machine)
    if kernel == (2, 2) and strides == (2, 2):
        return images.max_2x2_s2(machine)
    return images.max_any(machine, kernel[0] * kernel[1])


def average_pool(machine: HvxMachine, kernel: tuple[int, int], strides: tuple[int, int]) -> Kernel:
    """Return the loop of 3x3 with stride 1, or that of one vector per window element."""
    if kernel == (3, 3) and strides == (1, 1):
        return images.average_3x3_s1(machine)
    return images.average_any(machine, kernel[0] * kernel[1])


def depthwise_filter(machine: HvxMachine, kernel: tuple[int, int], stride: int) -> Kernel:
    """Return the loop of 3x3 in one pass, or that of 3, 5 and 7 wide filters row by row."""
    height, width = kernel
    if kernel == (3, 3):
        return convolution.three_by_three(machine, stride)
    return convolution.by_rows(machine, height, width, stride)


def matrix_rows(machine: HvxMachine, inputs: int, batch: int) -> tuple[tuple[Kernel, int], ...]:
    """Return the streams for 32 outputs of a whole batch and how often each runs: rows in pairs,
    then an odd one."""
    pairs = ((matrices.outputs(machine, inputs, 2), batch // 2),) if batch > 1 else ()
    single = ((matrices.outputs(machine, inputs, 1), 1),) if batch % 2 else ()
    return pairs + single
