"""The CPU and GPU runtimes: analytic rooflines for each layer; and the cores that all share.

On the CPU a layer's arithmetic runs on all big cores at the share of their peak that its class
reaches; its tensors and weights come from memory. A layer without MACs counts one operation per
element read or written; a pooling of floats reads one for each position of its window. In codes,
published times of snpe-1.23 follow the elements. A concat is a copy by one core. An opaque node
counts the operations of its operator, its MACs at the efficiency of a fully connected layer. SNPE's
documentation calls a deconvolution far slower than a convolution; it is given the efficiency of a
depthwise one. A function with an exponential, a softmax too, may take one thread some clocks for
each element, if its release is known to compute it in scalar code. A user-defined layer costs what
the user states.

The shares belong to the stack. They are fitted to published CPU times of the release if there are
any, otherwise those of well optimised code are assumed (`Stack.cpu_efficiency`).

Left out: caches, scheduling, the small cores, clocks below the highest.

The GPU has two constants, efficiency and time per layer. The efficiency is a share of the float32
peak: for this share of a layer's time the multipliers work, for the rest they wait for texels.
Tensors and weights are float16 in both modes, in texels of four channels, so half arithmetic
shortens the first part alone, by the ratio of the two peaks. This holds for convolutions with
windows, which use a texel several times. Convolutions of one pixel and depthwise ones are assumed
to be limited by their reads, whatever the multipliers do: with half arithmetic the published times
of AlexNet, GoogLeNet and SqueezeNet are 1 to 3 ms shorter, those of both MobileNets are not
(inferred).

A fully connected layer multiplies a matrix by a vector: a work item computes one texel of outputs
and waits for each texel of weights, which no other work item needs. Together the work items have
too few reads in flight to use the whole bandwidth, above all if there are few outputs. At least one
wave takes part. Convolutions, which use a weight for many pixels, are assumed to hide these waits,
once there are enough work items.

The work items of a convolution write their texels when their sums are done, which nothing hides
(inferred: so it explains the networks of snpe-1.23 and the layers of snpe-1.63 better). The first
and the last ones do not fill the GPU: meanwhile further texels could be computed, for each lane as
many as the kernels of a release keep in flight (`unfilled_texels_per_lane`). Poolings do the same.
Networks show nothing of this in snpe-1.23, whose kernels may compute fewer texels in a work item.

A window that does not sum over channels, of a pooling or a depthwise convolution, reads a texel for
each of its positions. Four texture units belong to 128 lanes: Adreno 640 has 24 for 768 lanes
(github.com/azhirnov/cpu-gpu-arch, gpu/Adreno-600.md).

Layers that the GPU does not take are computed on the CPU in floats. A tensor on its way there or
back is written from texels to a buffer, or from a buffer to texels, by a kernel of its own. The
kernel costs what a layer does to launch and to wait for, because the CPU reads nothing before the
queue is empty, and nothing is in the queue when it has written. One core copies the floats.

Left out: padding of channels to texels, caches, work groups, squashed layers, a CPU that sleeps.

A thread uses at most one big core of the CPU (`HostCores`). If there are more threads than cores,
they share the cores evenly, as under a fair scheduler. The CPU runtime uses all cores, a conversion
or a copy one.

Left out: the small cores, which would do some of this work, and other processes.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from hexsim.datasheets.chips import Chip
from hexsim.datasheets.stacks import CpuClass, Stack
from hexsim.layers import (
    Concat,
    Convolution,
    Deconvolution,
    FullyConnected,
    MatMul,
    Neuron,
    Opaque,
    Pooling,
    Recurrent,
    Softmax,
    UserDefined,
)
from hexsim.planning.plan import FLOAT_BYTES, KernelCall
from hexsim.records import dataclass
from hexsim.runtimes import Engine
from hexsim.timing.fluid import SharedRate, Sojourn, max_min
from hexsim.timing.picoseconds import seconds_to_ps
from hexsim.timing.results import Bound
from hexsim.timing.simtime import Environment
from hexsim.udl import Cost, Processor


@dataclass(frozen=True)
class LayerCost:
    """Seconds of arithmetic, of memory traffic, of starting the layer, and of writing its result.

    Arithmetic and traffic overlap. `write_s` is the part of the traffic that comes after them.
    """

    compute_s: float
    memory_s: float
    start_s: float
    write_s: float = 0.0

    def times(self, factor: float) -> LayerCost:
        """Return `factor` times the cost."""
        seconds = (self.compute_s, self.memory_s, self.start_s, self.write_s)
        return LayerCost(*(part * factor for part in seconds))

    @property
    def duration_ps(self) -> int:
        """The duration; neither the start nor the write overlaps with anything."""
        return seconds_to_ps(max(self.compute_s, self.memory_s) + self.start_s + self.write_s)

    @property
    def parts_ps(self) -> dict[Bound, float]:
        """The duration, divided: the longer of arithmetic and traffic hides the other."""
        parts: dict[Bound, float] = {"compute": 0.0, "ddr": 0.0}
        parts["ddr"], parts["overhead"] = map(seconds_to_ps, (self.write_s, self.start_s))
        longer: Bound = "compute" if self.compute_s >= self.memory_s else "ddr"
        parts[longer] += self.duration_ps - sum(parts.values())
        return parts


def stated_cost(call: KernelCall, processor: Processor) -> Cost | None:
    """Return the cost of a call that a user-defined layer states, None if there is none."""
    if not isinstance(call.layer, UserDefined):
        return None
    return call.layer.cost(processor, call.operands, call.results)


_EXPONENTIAL = frozenset(
    {"sigmoid", "tanh", "silu", "mish", "softplus", "exp", "elu", "gelu", "gelu_tanh", "erf"}
)
"""Functions that a loop computes with an exponential for each element."""


def cpu_cost(call: KernelCall, chip: Chip, stack: Stack) -> LayerCost:
    """Return the time of one call on the CPU."""
    cpu, floats = chip.cpu, call.computes_float
    macs_per_clk = cpu.fp32_macs_per_clk
    if not floats:  # Values of 8 bits; of more, one pass for each pair of bytes.
        passes = math.prod(max(1, bits // 8) for bits in (call.input_bits, call.weight_bits))
        macs_per_clk = cpu.int8_macs_per_clk / passes
    peak = cpu.cores * cpu.clock_hz * macs_per_clk
    peak_of_others = peak * stack.cpu_efficiency("other", floats=floats)
    stated = stated_cost(call, "cpu")
    if stated is None:
        arithmetic_s = call.macs / (peak * stack.cpu_efficiency(_class(call), floats=floats))
        arithmetic_s += _operations(call) / peak_of_others
    else:
        on_all_s = stated.operations / peak_of_others + stated.cycles / (cpu.cores * cpu.clock_hz)
        arithmetic_s = on_all_s * cpu.cores / min(stated.threads or cpu.cores, cpu.cores)
    functions_s = _functions(call, stack)
    if functions_s is not None:
        arithmetic_s = functions_s / cpu.clock_hz
    moved = call.operand_bytes + call.result_bytes + call.parameter_bytes
    copied_per_s = cpu.copy_bytes_per_clk * cpu.clock_hz
    rate = copied_per_s if isinstance(call.layer, Concat) else cpu.bandwidth_bytes_per_s
    return LayerCost(arithmetic_s, moved / rate, stack.cpu.layer_s)


def _functions(call: KernelCall, stack: Stack) -> float | None:
    """Return the clocks of one thread that computes a function with an exponential; else None."""
    layer = call.layer
    if not isinstance(layer, Softmax) and not (
        isinstance(layer, Neuron) and layer.function in _EXPONENTIAL
    ):
        return None
    clk = stack.cpu_function_clk(floats=call.computes_float)
    return None if clk is None else clk * math.prod(call.results[0])


def _operations(call: KernelCall) -> int:
    """Return the elementwise operations of a call, beside its MACs."""
    if isinstance(call.layer, Opaque) and (call.macs or call.layer.operations):
        return call.layer.operations
    if call.macs:
        return 0
    if isinstance(call.layer, Pooling) and call.computes_float:
        return math.prod(call.results[0]) * (call.layer.window.taps + 1)
    return sum(math.prod(shape) for shape in (*call.operands, *call.results))


def _class(call: KernelCall) -> CpuClass:
    """Return the class whose share of the peak holds for the MACs of a call."""
    layer = call.layer
    if isinstance(layer, Deconvolution) or call.is_depthwise:
        return "depthwise"
    if isinstance(layer, Convolution | MatMul):
        return "convolution"
    if isinstance(layer, FullyConnected | Recurrent | Opaque):
        return "fully_connected"
    return "other"


_FLOPS_PER_MAC = 2
_TEXEL_CHANNELS = 4
_HALF_BYTES = 2
_TEXEL_BYTES = _TEXEL_CHANNELS * _HALF_BYTES
"""A texel of four float16 values (OpenCL, CL_RGBA with CL_HALF_FLOAT)."""
_FLOPS_PER_TEXTURE_UNIT = 64
"""Operations in float32 of the lanes of a texture unit in a clock, in which it reads one texel: 24
units beside 768 lanes of two operations in Adreno 640 (documented, source above); that others have
the same share is inferred."""
_FEWEST_TEXELS_PER_LANE = 25
"""Smaller maps lose the same share of the GPU: these are the smallest of layer_latency.csv (assumed
because kernels may divide them in smaller work items; texels for each lane)."""
_WAVE = 64
"""Work items that run in step (assumed; the size depends on GPU and kernel)."""


def gpu_cost(call: KernelCall, chip: Chip, stack: Stack, *, half: bool = False) -> LayerCost:
    """Return the time of one call on the GPU; `half` if it multiplies in float16."""
    gpu, runtime, layer = chip.gpu, stack.gpu, call.layer
    peak = gpu.clock_hz * gpu.fp32_flops_per_clk
    elements = sum(math.prod(shape) for shape in (*call.operands, *call.results))
    stated = stated_cost(call, "gpu")
    flops = call.macs * _FLOPS_PER_MAC or (elements if stated is None else stated.operations)
    cycles = 0.0 if stated is None else stated.cycles / (stated.threads or 1)
    moved: float = call.operand_bytes + call.result_bytes + call.parameter_bytes
    if isinstance(layer, Softmax):
        moved += math.prod(call.results[0]) * runtime.softmax_bytes_per_element
    faster = 1 - gpu.fp32_flops_per_clk / gpu.fp16_flops_per_clk if half else 0.0
    dense = isinstance(layer, Convolution) and layer.window.taps > 1 and not call.is_depthwise
    saved_s = faster * flops / peak if dense else 0.0
    filled, texels_s, write_s = 1.0, 0.0, 0.0
    if isinstance(layer, Convolution | Deconvolution | Pooling):
        texels = math.prod(call.results[0]) / _TEXEL_CHANNELS
        per_lane = texels * _FLOPS_PER_MAC / gpu.fp32_flops_per_clk
        filled += runtime.unfilled_texels_per_lane / max(per_lane, _FEWEST_TEXELS_PER_LANE)
        if call.macs:
            write_s = call.result_bytes / gpu.bandwidth_bytes_per_s
        if call.is_depthwise or not call.macs:
            texels_s = texels * layer.window.taps * _FLOPS_PER_TEXTURE_UNIT / peak * filled
    streamed_s = moved / gpu.bandwidth_bytes_per_s - write_s
    return LayerCost(
        (flops / (peak * runtime.efficiency) - saved_s) * filled + cycles / gpu.clock_hz,
        max(streamed_s, texels_s, _waits_for_weights(call) * gpu.latency_s),
        runtime.layer_s if runtime.kernel_s is None else runtime.kernel_s,
        write_s,
    )


def launch_s(stack: Stack) -> float:
    """Return the time between two layers, while the GPU waits for the next launch."""
    runtime = stack.gpu
    return 0.0 if runtime.kernel_s is None else max(0.0, runtime.layer_s - runtime.kernel_s)


def crossing_s(elements: Sequence[int], engine: Engine, chip: Chip, stack: Stack) -> float:
    """Return what `engine` does for tensors on one way between CPU and GPU, in seconds."""
    if engine == "cpu":
        return sum(elements) * 2 * FLOAT_BYTES / (chip.cpu.copy_bytes_per_clk * chip.cpu.clock_hz)
    moved = sum(elements) * (_HALF_BYTES + FLOAT_BYTES)
    return len(elements) * stack.gpu.layer_s + moved / chip.gpu.bandwidth_bytes_per_s


def _waits_for_weights(call: KernelCall) -> float:
    """Return how often each work item of a fully connected layer waits for a texel of weights."""
    if not isinstance(call.layer, FullyConnected):
        return 0.0
    items = max(_WAVE, math.ceil(call.layer.output_channels / _TEXEL_CHANNELS))
    return call.parameter_bytes / (items * _TEXEL_BYTES)


class HostCores(SharedRate[int]):
    """The cores of one CPU; `count` is infinite if the chip does not state it."""

    def __init__(self, env: Environment, count: float) -> None:
        super().__init__(env)
        self.count = count

    def run(self, duration_ps: int, threads: int = 1) -> Sojourn[int]:
        """Run work that takes `duration_ps` if each of its threads has a core."""
        return self.use(duration_ps * threads, threads)

    def _rates(self, demands: Sequence[int]) -> Sequence[float]:
        return max_min(self.count, demands)
