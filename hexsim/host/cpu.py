"""The CPU runtime: an analytic roofline per layer class.

A layer's arithmetic runs on all big cores at the share of their peak that its class reaches; its
tensors and weights come from memory. A layer without MACs counts one operation per element read
or written. An opaque node counts the operations of its operator, its MACs at the efficiency of a
fully connected layer. SNPE's documentation calls a deconvolution far slower than a convolution; it
is given the efficiency of a depthwise one. A function with an exponential, a softmax
too, may take one thread some clocks for each element, if its release is known to compute it in
scalar code. A user-defined layer costs what the user states.

The shares belong to the stack. They are fitted to published CPU times of the release if there are
any, otherwise those of well optimised code are assumed (`Stack.cpu_efficiency`).

Left out: caches, scheduling, the small cores, clocks below the highest.
"""

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
    Neuron,
    Opaque,
    Recurrent,
    Softmax,
)
from hexsim.planning.plan import KernelCall

_EXPONENTIAL = frozenset(
    {"sigmoid", "tanh", "silu", "mish", "softplus", "exp", "elu", "gelu", "gelu_tanh", "erf"}
)
"""Functions that a loop computes with an exponential for each element."""


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
    functions_s = _functions(call, stack)
    if functions_s is not None:
        arithmetic_s = functions_s / cpu.clock_hz
    moved = call.operand_bytes + call.result_bytes + call.parameter_bytes
    return LayerCost(
        arithmetic_s,
        moved / cpu.bandwidth_bytes_per_s,
        stack.cpu.layer_s,
    )


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
    touched = sum(math.prod(shape) for shape in (*call.operands, *call.results))
    return 0 if call.macs else touched


def _bytes(bits: int) -> int:
    """Return the bytes of a quantised value; 8-bit arithmetic makes one pass per pair of bytes."""
    return max(1, bits // 8)


def _class(call: KernelCall) -> CpuClass:
    """Return the class whose share of the peak holds for the MACs of a call."""
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
