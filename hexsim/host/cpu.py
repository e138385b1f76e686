"""The CPU runtime: an analytic roofline per layer class, because the CPU is the surroundings.

A layer's arithmetic runs on all big cores at the share of their peak that its class reaches; its
tensors and weights come from memory. A layer without MACs counts one operation per element read
or written. An opaque node counts what its operator takes, its MACs at the efficiency of a fully
connected layer. SNPE's documentation calls a deconvolution far slower than a convolution; the
efficiency of depthwise ones stands in for it. A layer that the user brings costs what the user
says.

Those shares are the stack's: of a release whose CPU times were published what its code reached,
otherwise what good code would (`Stack.cpu_efficiency`).

Left out: caches, scheduling, the small cores, clocks below the highest.
"""

from __future__ import annotations

import math

from hexsim.datasheets.chips import Chip
from hexsim.datasheets.stacks import Stack
from hexsim.datasheets.stacks.stack import CpuClass
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


def layer_cost(call: KernelCall, chip: Chip, stack: Stack) -> LayerCost:
    """Return the time of one call on the CPU."""
    cpu, floats = chip.cpu, call.computes_float
    macs_per_clk = cpu.fp32_macs_per_clk
    if not floats:
        macs_per_clk = cpu.int8_macs_per_clk / (_bytes(call.input_bits) * _bytes(call.weight_bits))
    peak = cpu.cores * cpu.clock_hz * macs_per_clk
    peak_of_others = peak * stack.cpu_efficiency("other", floats=floats)
    stated = stated_cost(call, "cpu")
    if stated is None:
        arithmetic_s = call.macs / (peak * stack.cpu_efficiency(_class(call), floats=floats))
        arithmetic_s += _operations(call) / peak_of_others
    else:
        on_all_s = stated.operations / peak_of_others + stated.cycles / (cpu.cores * cpu.clock_hz)
        arithmetic_s = on_all_s * cpu.cores / min(stated.threads or cpu.cores, cpu.cores)
    moved = call.operand_bytes + call.result_bytes + call.parameter_bytes
    return LayerCost(
        arithmetic_s,
        moved / cpu.bandwidth_bytes_per_s,
        stack.cpu.layer_s,
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


def _class(call: KernelCall) -> CpuClass:
    """The class whose share of the peak the MACs of a call reach."""
    layer = call.layer
    if isinstance(layer, Convolution):
        return "depthwise" if layer.is_depthwise(call.operands[0][-1]) else "convolution"
    if isinstance(layer, MatMul):
        return "convolution"
    if isinstance(layer, Deconvolution):
        return "depthwise"
    if isinstance(layer, FullyConnected | Recurrent | Opaque):
        return "fully_connected"
    return "other"
