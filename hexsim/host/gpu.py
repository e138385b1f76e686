"""The GPU runtime: an analytic roofline with two constants, efficiency and time per layer.

The efficiency is a share of the float32 peak: for this share of a layer's time the multipliers
work, for the rest they wait for texels. Tensors and weights are float16 in both modes, in texels of
four channels, so half arithmetic shortens the first part alone, by the ratio of the two peaks. This
holds for convolutions with windows, which use a texel several times. Convolutions of one pixel and
depthwise ones are assumed to be limited by their reads, whatever the multipliers do: with half
arithmetic the published times of AlexNet, GoogLeNet and SqueezeNet are 1 to 3 ms shorter, those of
both MobileNets are not (inferred).

A fully connected layer multiplies a matrix by a vector: a work item computes one texel of outputs
and waits for each texel of weights, which no other work item needs. Together the work items have
too few reads in flight to use the whole bandwidth, above all if there are few outputs. At least one
wave takes part. Convolutions, which use a weight for many pixels, are assumed to hide these waits.

Left out: padding of channels to texels, caches, work groups, squashed layers.
"""

import math

from hexsim.datasheets.chips import Chip
from hexsim.datasheets.stacks import Stack
from hexsim.host._layer_cost import LayerCost, stated_cost
from hexsim.layers import Convolution, FullyConnected
from hexsim.planning.plan import KernelCall

_FLOPS_PER_MAC = 2
_TEXEL_CHANNELS = 4
_TEXEL_BYTES = 8
"""A texel of four float16 values (OpenCL, CL_RGBA with CL_HALF_FLOAT)."""
_WAVE = 64
"""Work items that run in step (assumed; the size depends on GPU and kernel)."""


def layer_cost(call: KernelCall, chip: Chip, stack: Stack, *, half: bool = False) -> LayerCost:
    """Return the time of one call on the GPU; `half` if it multiplies in float16."""
    gpu, runtime = chip.gpu, stack.gpu
    peak = gpu.clock_hz * gpu.fp32_flops_per_clk
    elements = sum(math.prod(shape) for shape in (*call.operands, *call.results))
    stated = stated_cost(call, "gpu")
    flops = call.macs * _FLOPS_PER_MAC or (elements if stated is None else stated.operations)
    cycles = 0.0 if stated is None else stated.cycles / (stated.threads or 1)
    moved = call.operand_bytes + call.result_bytes + call.parameter_bytes
    streamed_s = moved / gpu.bandwidth_bytes_per_s
    faster = 1 - gpu.fp32_flops_per_clk / gpu.fp16_flops_per_clk if half else 0.0
    saved_s = faster * flops / peak if _has_window(call) else 0.0
    return LayerCost(
        flops / (peak * runtime.efficiency) - saved_s + cycles / gpu.clock_hz,
        max(streamed_s, _waits_for_weights(call) * gpu.latency_s),
        runtime.layer_s if runtime.kernel_s is None else runtime.kernel_s,
    )


def launch_s(stack: Stack) -> float:
    """Return the time between two layers, while the GPU waits for the next launch."""
    runtime = stack.gpu
    return 0.0 if runtime.kernel_s is None else max(0.0, runtime.layer_s - runtime.kernel_s)


def _has_window(call: KernelCall) -> bool:
    """Return whether it is a dense convolution, in groups or not, of more than one pixel."""
    layer = call.layer
    if not isinstance(layer, Convolution) or layer.is_depthwise(call.operands[0][-1]):
        return False
    return layer.window.taps > 1


def _waits_for_weights(call: KernelCall) -> float:
    """Return how often each work item of a fully connected layer waits for a texel of weights."""
    if not isinstance(call.layer, FullyConnected):
        return 0.0
    items = max(_WAVE, math.ceil(call.layer.output_channels / _TEXEL_CHANNELS))
    return call.parameter_bytes / (items * _TEXEL_BYTES)
