"""Kernel models: what each layer costs on the vector unit, as work items.

One file per layer type; adding a kernel is adding a file and a line here. A kernel decides how
Hexagon NN blocks the layer; the packets of its loops come from `_counted`.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

from hexsim.graph.ir import Layer
from hexsim.hvx.kernels import (
    batch_norm,
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
    pooling,
    prelu,
    softmax,
)
from hexsim.hvx.kernels._target import Target
from hexsim.layers import (
    BatchNorm,
    ChannelShuffle,
    Concat,
    Convolution,
    Elementwise,
    FullyConnected,
    LocalResponseNorm,
    Neuron,
    Permute,
    Pooling,
    Prelu,
    Reshape,
    Softmax,
)
from hexsim.memory import Traffic
from hexsim.plan import KernelCall
from hexsim.work import NodeWork

__all__ = ["Target", "node_work"]

Kernel = Callable[[KernelCall, Target, Traffic], NodeWork]


def _convolution(call: KernelCall, target: Target, traffic: Traffic) -> NodeWork:
    assert isinstance(call.layer, Convolution)
    if call.layer.is_depthwise(call.operands[0][-1]):
        return depthwise_convolution.work(call, target, traffic)
    if call.layer.groups > 1:
        return grouped_convolution.work(call, target, traffic)
    return convolution.work(call, target, traffic)


_KERNELS: dict[type[Layer], Kernel] = {
    BatchNorm: batch_norm.work,
    ChannelShuffle: layout_change.work,
    Concat: concat.work,
    Convolution: _convolution,
    Elementwise: elementwise.work,
    FullyConnected: fully_connected.work,
    LocalResponseNorm: local_response_norm.work,
    Neuron: neuron.work,
    Permute: layout_change.work,
    Pooling: pooling.work,
    Prelu: prelu.work,
    Reshape: layout_change.work,
    Softmax: softmax.work,
}


def node_work(call: KernelCall, target: Target, traffic: Traffic) -> NodeWork:
    """Return the work items of one kernel call; `traffic` is what its activations move in DDR.

    16-bit activations run as high and low bytes: twice the packets and bytes of the 8-bit
    kernels, reported as a generic cost because those kernels were not counted.
    """
    work = _KERNELS.get(type(call.layer), generic.work)(call, target, traffic)
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
