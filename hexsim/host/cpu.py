"""The CPU runtime: an analytic roofline per layer class, because the CPU is the surroundings.

A layer's arithmetic runs on all big cores at the share of their peak that its class reaches; its
tensors and weights come from memory. A layer without MACs counts one operation per element read
or written. An opaque node counts what its operator takes, its MACs at the efficiency of a fully
connected layer. SNPE's documentation calls a deconvolution far slower than a convolution; the
efficiency of depthwise ones stands in for it. A layer that the user brings costs what the user
says.

Left out: caches, scheduling, the small cores, clocks below the highest.
"""

from __future__ import annotations

import math

from hexsim.host._layer_cost import LayerCost, stated_cost
from hexsim.layers import (
    Convolution,
    Deconvolution,
    FullyConnected,
    MatMul,
    Opaque,
    Recurrent,
)
from hexsim.planning.plan import KernelCall
from hexsim.platforms.chips import Chip
from hexsim.platforms.stacks import Stack


def layer_cost(call: KernelCall, chip: Chip, stack: Stack) -> LayerCost:
    """Return the time of one call on the CPU."""
    cpu, runtime = chip.cpu, stack.cpu
    macs_per_clk = cpu.fp32_macs_per_clk
    if not call.computes_float:
        macs_per_clk = cpu.int8_macs_per_clk / (_bytes(call.input_bits) * _bytes(call.weight_bits))
    peak = cpu.cores * cpu.clock_hz * macs_per_clk
    peak_of_others = peak * runtime.other_efficiency
    stated = stated_cost(call, "cpu")
    if stated is None:
        arithmetic_s = call.macs / (peak * _efficiency(call, stack))
        arithmetic_s += _operations(call) / peak_of_others
    else:
        on_all_s = stated.operations / peak_of_others + stated.cycles / (cpu.cores * cpu.clock_hz)
        arithmetic_s = on_all_s * cpu.cores / min(stated.threads or cpu.cores, cpu.cores)
    moved = call.operand_bytes + call.result_bytes + call.parameter_bytes
    return LayerCost(
        arithmetic_s,
        moved / cpu.bandwidth_bytes_per_s,
        runtime.layer_s,
    )


def _operations(call: KernelCall) -> int:
    """What a call does to elements beside its MACs."""
    if isinstance(call.layer, Opaque) and (call.macs or call.layer.operations):
        return call.layer.operations
    touched = sum(math.prod(shape) for shape in (*call.operands, *call.results))
    return 0 if call.macs else touched


def _bytes(bits: int) -> int:
    """Bytes of a code: wider operands take a pass of 8-bit arithmetic for each pair of bytes."""
    return max(1, bits // 8)


def _efficiency(call: KernelCall, stack: Stack) -> float:
    layer, runtime = call.layer, stack.cpu
    if isinstance(layer, Convolution):
        if layer.is_depthwise(call.operands[0][-1]):
            return runtime.depthwise_efficiency
        return runtime.convolution_efficiency
    if isinstance(layer, MatMul):
        return runtime.convolution_efficiency
    if isinstance(layer, Deconvolution):
        return runtime.depthwise_efficiency
    if isinstance(layer, FullyConnected | Recurrent | Opaque):
        return runtime.fully_connected_efficiency
    return runtime.other_efficiency
