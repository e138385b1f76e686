"""Exchanges height and width of images one pixel wide before they are converted to d32.

A vector of d32 holds four neighbours of a row, so an image of height H and width 1 would waste
three quarters of every vector. In NHWC the same bytes are an image of height 1 and width H, so a
runtime can exchange the axes at no cost. That it does is inferred: on sd865 a 1x1 convolution from
1920 to 5120 channels over 113x1 pixels takes 3.15 ms from call to return, less than the vector unit
at its highest clock needs for the entry and an image of width 1.

The axes are exchanged in the whole subnet or not at all: every image in it must be one pixel wide,
and no layer may name single axes.
"""

import dataclasses

from hexsim.graph.ir import Layer, Shape
from hexsim.planning.plan import KernelCall, PlannedSubnet


def laid_down(subnet: PlannedSubnet) -> PlannedSubnet:
    """Return the subnet with height and width of every image exchanged, if that saves vectors."""
    shapes = [shape for call in subnet.calls for shape in (*call.operands, *call.results)]
    shapes += [*subnet.input_shapes, *subnet.output_shapes]
    narrow = [shape[1] for shape in shapes if len(shape) == 4 and shape[2] == 1]
    if len(narrow) < len(shapes) or max(narrow, default=1) == 1:
        return subnet
    turned = [layer.turned() for layer in subnet.layers]
    layers = [layer for layer in turned if layer is not None]
    if len(layers) < len(turned):
        return subnet
    return dataclasses.replace(
        subnet,
        calls=tuple(map(_turn_call, subnet.calls, layers)),
        input_shapes=tuple(map(_turn_shape, subnet.input_shapes)),
        output_shapes=tuple(map(_turn_shape, subnet.output_shapes)),
    )


def _turn_call(call: KernelCall, layer: Layer) -> KernelCall:
    return dataclasses.replace(
        call,
        layer=layer,
        operands=tuple(map(_turn_shape, call.operands)),
        results=tuple(map(_turn_shape, call.results)),
    )


def _turn_shape(shape: Shape) -> Shape:
    batch, height, width, channels = shape
    return batch, width, height, channels
