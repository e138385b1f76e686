"""Kernel models: what each layer costs on the vector unit, as work items.

One file per layer type; adding a kernel is adding a file and a line here. A kernel decides how
Hexagon NN blocks the layer (`work`) and which instruction streams compute it (`streams`); the
packets of its loops are those of the scheduled streams.
"""

from __future__ import annotations

from typing import Protocol

from hexsim.graph.ir import Layer
from hexsim.hvx.kernels import (
    batch_norm,
    colour_conversion,
    concat,
    convert,
    convolution,
    deconvolution,
    depthwise_convolution,
    elementwise,
    fully_connected,
    generic,
    grouped_convolution,
    layout_change,
    local_response_norm,
    neuron,
    pad,
    pooling,
    prelu,
    resize,
    softmax,
    strided_slice,
)
from hexsim.hvx.kernels._target import Target
from hexsim.hvx.kernels._wide import is_wide, twice
from hexsim.hvx.kernels.weight_space import activation_l2_bytes
from hexsim.hvx.streams import Kernel
from hexsim.layers import (
    BatchNorm,
    ChannelShuffle,
    ColourConversion,
    Concat,
    Convert,
    Convolution,
    Deconvolution,
    Elementwise,
    FullyConnected,
    LocalResponseNorm,
    Neuron,
    Pad,
    Permute,
    Pooling,
    Prelu,
    Reshape,
    Resize,
    Softmax,
    StridedSlice,
)
from hexsim.planning.plan import KernelCall
from hexsim.timing.memory import Traffic
from hexsim.timing.work import NodeWork

__all__ = ["Target", "activation_l2_bytes", "kernel_streams", "node_work"]


_DERIVED = (Concat, Convert, Convolution, Deconvolution, Elementwise, FullyConnected, Neuron)
"""Layers whose models take 16-bit activations themselves."""


class _Model(Protocol):
    """What the file of a layer type offers."""

    def work(self, call: KernelCall, target: Target, traffic: Traffic) -> NodeWork: ...

    def streams(self, call: KernelCall, target: Target) -> tuple[Kernel, ...]: ...


_MODELS: dict[type[Layer], _Model] = {
    BatchNorm: batch_norm,
    ChannelShuffle: layout_change,
    ColourConversion: colour_conversion,
    Concat: concat,
    Convert: convert,
    Deconvolution: deconvolution,
    Elementwise: elementwise,
    FullyConnected: fully_connected,
    LocalResponseNorm: local_response_norm,
    Neuron: neuron,
    Pad: pad,
    Permute: layout_change,
    Pooling: pooling,
    Prelu: prelu,
    Reshape: layout_change,
    Resize: resize,
    Softmax: softmax,
    StridedSlice: strided_slice,
}


def _model(call: KernelCall) -> _Model:
    if not isinstance(call.layer, Convolution):
        return _MODELS.get(type(call.layer), generic)
    if call.layer.is_depthwise(call.operands[0][-1]):
        return depthwise_convolution
    return grouped_convolution if call.layer.groups > 1 else convolution


def kernel_streams(call: KernelCall, target: Target) -> tuple[Kernel, ...]:
    """Return the instruction streams that one kernel call runs.

    A call of 16-bit activations without streams of its own gives the 8-bit ones.
    """
    return _model(call).streams(call, target)


def node_work(call: KernelCall, target: Target, traffic: Traffic) -> NodeWork:
    """Return the work items of one kernel call; `traffic` is what its activations move in DDR.

    16-bit activations without streams of their own take twice the packets and bytes of the 8-bit
    kernels, reported as a generic cost.
    """
    work = _model(call).work(call, target, traffic)
    return twice(work) if is_wide(call) and not isinstance(call.layer, _DERIVED) else work
