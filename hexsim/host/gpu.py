"""The GPU runtime: an analytic roofline with two constants, efficiency and time per layer.

The efficiency is a share of the float32 peak in both modes: the published times with half
arithmetic are those of float arithmetic on halves, so the multipliers are not what limits them.
Tensors and weights are halves in both.

Left out: textures, work groups, squashed layers.
"""

from __future__ import annotations

import math

from hexsim.chips import Chip
from hexsim.host._roofline import Roofline
from hexsim.plan import KernelCall
from hexsim.stacks import Stack

_FLOPS_PER_MAC = 2


def roofline(call: KernelCall, chip: Chip, stack: Stack) -> Roofline:
    """Return the time of one call on the GPU."""
    gpu, runtime = chip.gpu, stack.gpu
    peak = gpu.clock_hz * gpu.fp32_flops_per_clk
    elements = sum(math.prod(shape) for shape in (*call.operands, *call.results))
    flops = call.macs * _FLOPS_PER_MAC or elements
    moved = call.operand_bytes + call.result_bytes + call.parameter_bytes
    return Roofline(
        flops / (peak * runtime.efficiency),
        moved / gpu.bandwidth_bytes_per_s,
        runtime.layer_s,
    )
