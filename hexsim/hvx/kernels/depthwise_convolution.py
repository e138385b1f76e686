"""Depthwise convolution: vector kernels for 3, 5 and 7 columns, a reference kernel otherwise.

The vector kernels take strides of 1 and 2, no dilation, and one output per input channel. The
d32 layout pads the channels, so any number of them will do; SNPE's documentation promises speed
only for multiples of 32, but MobileNetV2, with its 144 channels, is measured to run fast.

Source: Hexagon NN, hexagon/ops/src/op_dwise_snode_8bit.c.
"""

from __future__ import annotations

import math

from hexsim.graph.nhwc import as_nhwc
from hexsim.hvx.kernels import _loops
from hexsim.hvx.kernels._blocking import RowCost, row_stage
from hexsim.hvx.kernels._model import KernelModel
from hexsim.hvx.kernels._reference import reference_stage
from hexsim.hvx.kernels._target import Target
from hexsim.hvx.kernels._wide import is_wide, twice
from hexsim.hvx.layout import row_vectors, sheets
from hexsim.hvx.streams import Kernel, reference
from hexsim.layers import Convolution
from hexsim.planning.plan import KernelCall
from hexsim.timing.memory import Traffic
from hexsim.timing.work import NodeWork


def streams(call: KernelCall, target: Target) -> tuple[Kernel, ...]:
    """The vector loop if the layer suits one, else the reference kernel."""
    return (_vector_loop(call, target) or reference.multiply_add(target.machine),)


def _vector_loop(call: KernelCall, target: Target) -> Kernel | None:
    assert isinstance(call.layer, Convolution)
    window = call.layer.window
    suits = (
        window.dilations == (1, 1)
        and window.strides in ((1, 1), (2, 2))
        and call.results[0][-1] == call.operands[0][-1]
    )
    if not suits:
        return None
    return _loops.depthwise_filter(target.machine, window.kernel, window.strides[0])


def work(call: KernelCall, target: Target, traffic: Traffic) -> NodeWork:
    """Rows over the workers, one call per row and sheet."""
    batch, height, width, channels = as_nhwc(call.results[0])
    moved = traffic.reading(call.parameter_bytes)
    kernel = _vector_loop(call, target)
    if kernel is None:
        (slow,) = streams(call, target)
        stage = reference_stage(slow, call.macs, math.prod(call.results[0]), moved)
        return NodeWork((stage,), "generic")  # scalar code reads halfwords as fast as bytes
    row = RowCost.of(kernel.cost, sheets(channels) * row_vectors(width), sheets(channels))
    stage = row_stage(batch * height, row, target.workers, moved, target.l2_bytes)
    work = NodeWork((stage,), "kernel")
    return twice(work) if is_wide(call) else work


MODEL = KernelModel(streams, work, lambda call, target: call.parameter_bytes, takes_16_bits=True)
