"""The GPU runtime: an analytic roofline with two constants, efficiency and time per layer.

The efficiency is a share of the float32 peak in both modes, because the published times with
float16 and float32 arithmetic are equal, so the multipliers do not limit them.
Tensors and weights are float16 in both, in texels of four channels.

A fully connected layer multiplies a matrix by a vector: a work item computes one texel of outputs
and waits for each texel of weights, which no other work item needs. Together the work items have
too few reads in flight to use the whole bandwidth, above all if there are few outputs. At least one
wave takes part. Convolutions, which use a weight for many pixels, are assumed to hide these waits.

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
"""A texel of four float16 values (OpenCL, CL_RGBA with CL_HALF_FLOAT)."""
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
        runtime.layer_s if runtime.kernel_s is None else runtime.kernel_s,
    )


def launch_s(stack: Stack) -> float:
    """Return the time between two layers, while the GPU waits for the next launch."""
    runtime = stack.gpu
    return 0.0 if runtime.kernel_s is None else max(0.0, runtime.layer_s - runtime.kernel_s)


def _waits_for_weights(call: KernelCall) -> float:
    """Return how often each work item of a fully connected layer waits for a texel of weights."""
    if not isinstance(call.layer, FullyConnected):
        return 0.0
    items = max(_WAVE, math.ceil(call.layer.output_channels / _TEXEL_CHANNELS))
    return call.parameter_bytes / (items * _TEXEL_BYTES)
