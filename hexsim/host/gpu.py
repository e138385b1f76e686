"""The GPU runtime: an analytic roofline with two constants, efficiency and time per layer.

The efficiency is a share of the float32 peak in both modes: the published times with half
arithmetic are those of float arithmetic on halves, so the multipliers are not what limits them.
Tensors and weights are halves in both, in texels of four channels.

A fully connected layer is a matrix by a vector: a work item makes one texel of outputs and waits
for each texel of weights, which nobody else needs. All of them together keep too few reads in
flight for the whole bandwidth, and the more so the fewer outputs there are. At least a wave takes
part in every product. Convolutions, which use a weight for many pixels, are taken to hide this.

Left out: padding of channels to texels, caches, work groups, squashed layers.
"""

from __future__ import annotations

import math

from hexsim.datasheets.chips import Chip
from hexsim.datasheets.stacks import Stack
from hexsim.host._layer_cost import LayerCost, stated_cost
from hexsim.layers import FullyConnected
from hexsim.planning.plan import KernelCall

_FLOPS_PER_MAC = 2
_TEXEL_CHANNELS = 4
_TEXEL_BYTES = 8
"""A texel of four halves (OpenCL, CL_RGBA with CL_HALF_FLOAT)."""
_WAVE = 64
"""Work items that run in step (assumed; the size depends on GPU and kernel)."""


def layer_cost(call: KernelCall, chip: Chip, stack: Stack) -> LayerCost:
    """Return the time of one call on the GPU."""
    gpu, runtime = chip.gpu, stack.gpu
    peak = gpu.clock_hz * gpu.fp32_flops_per_clk
    elements = sum(math.prod(shape) for shape in (*call.operands, *call.results))
    stated = stated_cost(call, "gpu")
    flops = call.macs * _FLOPS_PER_MAC or (elements if stated is None else stated.operations)
    cycles = 0.0 if stated is None else stated.cycles / (stated.threads or 1)
    moved = call.operand_bytes + call.result_bytes + call.parameter_bytes
    streamed_s = moved / gpu.bandwidth_bytes_per_s
    return LayerCost(
        flops / (peak * runtime.efficiency) + cycles / gpu.clock_hz,
        max(streamed_s, _waits_for_weights(call) * gpu.latency_s),
        runtime.layer_s,
    )


def _waits_for_weights(call: KernelCall) -> float:
    """How often all work items of a fully connected layer wait for a texel of weights each."""
    if not isinstance(call.layer, FullyConnected):
        return 0.0
    items = max(_WAVE, math.ceil(call.layer.output_channels / _TEXEL_CHANNELS))
    return call.parameter_bytes / (items * _TEXEL_BYTES)
