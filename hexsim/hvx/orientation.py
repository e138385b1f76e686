"""Images one pixel wide are laid on their side before they enter d32.

A vector of d32 holds four neighbours of a row, so an image of height H and width 1 would waste
three quarters of every vector. In NHWC the same bytes are an image of height 1 and width H, so a
runtime can turn it for nothing. That it does is inferred: on sd865 a 1x1 convolution from 1920 to
5120 channels over 113x1 pixels takes 3.15 ms from call to return, less than the vector unit at
its highest clock needs for the wasteful form and the entry together.

A subnet is turned as a whole or not at all: every image in it must be one pixel wide, and no
layer may speak of single axes.
"""

from __future__ import annotations

import dataclasses

from hexsim.graph.ir import Layer, Shape
from hexsim.layers import (
    BatchNorm,
    Concat,
    Convert,
    Convolution,
    Elementwise,
    LocalResponseNorm,
    Neuron,
    Pooling,
    Prelu,
    Window,
)
from hexsim.planning.plan import KernelCall, PlannedSubnet

_AXIS_FREE = (BatchNorm, Convert, Elementwise, LocalResponseNorm, Neuron, Prelu)
_CHANNEL_AXIS = 3


def laid_down(subnet: PlannedSubnet) -> PlannedSubnet:
    """Return the subnet with height and width of every image exchanged, if that saves vectors."""
    shapes = [shape for call in subnet.calls for shape in (*call.operands, *call.results)]
    shapes += [*subnet.input_shapes, *subnet.output_shapes]
    narrow = [shape[1] for shape in shapes if len(shape) == 4 and shape[2] == 1]
    saves = len(narrow) == len(shapes) and max(narrow, default=1) > 1
    if not (saves and all(map(_can_turn, subnet.layers))):
        return subnet
    return dataclasses.replace(
        subnet,
        calls=tuple(map(_turn_call, subnet.calls)),
        input_shapes=tuple(map(_turn_shape, subnet.input_shapes)),
        output_shapes=tuple(map(_turn_shape, subnet.output_shapes)),
    )


def _can_turn(layer: Layer) -> bool:
    if isinstance(layer, Concat):
        return layer.axis == _CHANNEL_AXIS
    return isinstance(layer, (Convolution, Pooling, *_AXIS_FREE))


def _turn_call(call: KernelCall) -> KernelCall:
    layer = call.layer
    if isinstance(layer, Convolution | Pooling):
        layer = layer.replace(window=_turn_window(layer.window))
    return dataclasses.replace(
        call,
        layer=layer,
        operands=tuple(map(_turn_shape, call.operands)),
        results=tuple(map(_turn_shape, call.results)),
    )


def _turn_shape(shape: Shape) -> Shape:
    batch, height, width, channels = shape
    return batch, width, height, channels


def _turn_window(window: Window) -> Window:
    top, left, bottom, right = window.pads
    return dataclasses.replace(
        window,
        kernel=window.kernel[::-1],
        strides=window.strides[::-1],
        pads=(left, top, right, bottom),
        dilations=window.dilations[::-1],
    )
