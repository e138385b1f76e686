"""Depthwise convolution: vector kernels for 3, 5 and 7 columns, a reference kernel otherwise.

The vector kernels take strides of 1 and 2, no dilation, and one output per input channel. The
d32 layout pads the channels, so any number of them will do; SNPE's documentation promises speed
only for multiples of 32, but MobileNetV2, with its 144 channels, is measured to run fast.

Source: Hexagon NN, hexagon/ops/src/op_dwise_snode_8bit.c.
"""

from __future__ import annotations

import math

from hexsim.hvx.kernels import _counted as counted
from hexsim.hvx.kernels._blocking import RowCost, row_stage
from hexsim.hvx.kernels._reference import reference_stage
from hexsim.hvx.kernels._target import Target
from hexsim.hvx.layout import as_nhwc, row_vectors, sheets
from hexsim.layers import Convolution
from hexsim.memory import Traffic
from hexsim.plan import KernelCall
from hexsim.work import NodeWork


def work(call: KernelCall, target: Target, traffic: Traffic) -> NodeWork:
    """Rows over the workers, one call per row and sheet."""
    layer = call.layer
    assert isinstance(layer, Convolution)
    batch, height, width, channels = as_nhwc(call.results[0])
    window = layer.window
    moved = traffic.reading(call.parameter_bytes)
    stride = window.strides[0]
    cost = counted.depthwise(window.kernel, stride)
    suits = (
        window.dilations == (1, 1)
        and window.strides in ((1, 1), (2, 2))
        and channels == call.operands[0][-1]
    )
    if cost is None or not suits:
        outputs = math.prod(call.results[0])
        return NodeWork((reference_stage(call.macs, outputs, moved),), "generic")
    row = RowCost.of(cost, sheets(channels) * row_vectors(width), sheets(channels))
    stage = row_stage(batch * height, row, target.workers, moved, target.l2_bytes)
    return NodeWork((stage,), "kernel")
