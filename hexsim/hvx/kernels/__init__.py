"""Kernel models: what each layer costs on the vector unit, as work items.

One file per layer type; adding a kernel is adding a file and a line here. A kernel decides how
Hexagon NN blocks the layer (`work`) and which instruction streams compute it (`streams`); the
packets of its loops are those of the scheduled streams.
"""

from __future__ import annotations

import dataclasses
from typing import Protocol

from hexsim.graph.ir import Layer
from hexsim.hvx.kernels import (
    batch_norm,
    colour_conversion,
    concat,
    convolution,
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
    softmax,
    strided_slice,
)
from hexsim.hvx.kernels._target import Target
from hexsim.hvx.kernels.weight_space import activation_l2_bytes
from hexsim.hvx.streams import Kernel
from hexsim.layers import (
    BatchNorm,
    ChannelShuffle,
    ColourConversion,
    Concat,
    Convolution,
    Elementwise,
    FullyConnected,
    LocalResponseNorm,
    Neuron,
    Pad,
    Permute,
    Pooling,
    Prelu,
    Reshape,
    Softmax,
    StridedSlice,
)
from hexsim.memory import Traffic
from hexsim.plan import KernelCall
from hexsim.work import NodeWork

__all__ = ["Target", "activation_l2_bytes", "kernel_streams", "node_work"]


class _Model(Protocol):
    """What the file of a layer type offers."""

    def work(self, call: KernelCall, target: Target, traffic: Traffic) -> NodeWork: ...

    def streams(self, call: KernelCall, target: Target) -> tuple[Kernel, ...]: ...


_MODELS: dict[type[Layer], _Model] = {
    BatchNorm: batch_norm,
    ChannelShuffle: layout_change,
    ColourConversion: colour_conversion,
    Concat: concat,
    Elementwise: elementwise,
    FullyConnected: fully_connected,
    LocalResponseNorm: local_response_norm,
    Neuron: neuron,
    Pad: pad,
    Permute: layout_change,
    Pooling: pooling,
    Prelu: prelu,
    Reshape: layout_change,
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
    """Return the instruction streams that one kernel call runs, for its 8-bit form."""
    return _model(call).streams(call, target)


def node_work(call: KernelCall, target: Target, traffic: Traffic) -> NodeWork:
    """Return the work items of one kernel call; `traffic` is what its activations move in DDR.

    16-bit activations run as high and low bytes: twice the packets and bytes of the 8-bit
    kernels, reported as a generic cost because no stream was written for those kernels.
    """
    work = _model(call).work(call, target, traffic)
    return work if call.activation_bits <= 8 else _twice(work)


def _twice(work: NodeWork) -> NodeWork:
    stages = tuple(
        dataclasses.replace(
            stage,
            slices=tuple(
                dataclasses.replace(
                    piece,
                    items=tuple(
                        dataclasses.replace(
                            item,
                            packets=2 * item.packets,
                            stalls=2 * item.stalls,
                            scalar_fed=2 * item.scalar_fed,
                            l2_bytes=2 * item.l2_bytes,
                            vtcm_bytes=2 * item.vtcm_bytes,
                        )
                        for item in piece.items
                    ),
                )
                for piece in stage.slices
            ),
        )
        for stage in work.stages
    )
    return NodeWork(stages, "generic", work.nodes)
