"""The d32 layout: how Hexagon NN keeps activations, and what it wastes on padding.

NHWC cut into sheets of 32 channels, `[batch][height][depth / 32][width][32]`: four pixels of one
sheet are one 128-byte vector. The width is a multiple of four, the channels a multiple of 32.

Left out: the padding around the image (four pixels on the left, rows above and below), which is
neither computed nor, beyond a few lines, moved.

Source: Hexagon NN, docs/d32.txt and hexagon/ops/src/op_supernode_new.c.
"""

from __future__ import annotations

import math

from hexsim.graph.ir import Shape
from hexsim.graph.nhwc import as_nhwc
from hexsim.layers import ColourConversion, Convert
from hexsim.planning.plan import PlannedSubnet

VECTOR_BYTES = 128
SHEET = 32
"""Channels of one sheet."""
PIXELS = 4
"""Pixels of one vector."""


def ceil_div(a: int, b: int) -> int:
    """Return a / b rounded up."""
    return -(-a // b)


def sheets(channels: int) -> int:
    """Number of 32-channel sheets."""
    return ceil_div(channels, SHEET)


def row_vectors(width: int) -> int:
    """Vectors of one row of one sheet that are computed."""
    return ceil_div(width, PIXELS)


def vectors(shape: Shape) -> int:
    """Vectors that a kernel computes to fill a tensor, padding channels and pixels included."""
    batch, height, width, channels = as_nhwc(shape)
    return batch * height * sheets(channels) * row_vectors(width)


def vector_sizes(shape: Shape) -> dict[int, int]:
    """Return how many positions of an axis share a vector, for the axes of `shape` that do."""
    _, height, width, _ = as_nhwc(shape)
    last = len(shape) - 1
    if height == width == 1:
        return {last: VECTOR_BYTES}
    return {last: SHEET, last - 1: PIXELS}


def stored_bytes(shape: Shape) -> int:
    """Bytes that a tensor of 8-bit codes occupies; without spatial axes it is kept flat."""
    batch, height, width, channels = as_nhwc(shape)
    if height == width == 1:
        return batch * ceil_div(channels, VECTOR_BYTES) * VECTOR_BYTES
    return vectors(shape) * VECTOR_BYTES


def code_bytes(subnet: PlannedSubnet, name: str) -> int:
    """Bytes of one code of a tensor."""
    return max(1, subnet.bits.get(name, 8) // 8)


def tensor_sizes(subnet: PlannedSubnet) -> dict[str, int]:
    """Stored bytes of every tensor and operand of a subnet, by name.

    Images of up to four channels enter flat, because the first-layer kernel takes them so; what a
    conversion of their colours or width makes of them is flat as well.
    """
    sizes: dict[str, int] = {}
    for call in subnet.calls:
        named = zip(
            (*call.layer.inputs, *call.layer.outputs), (*call.operands, *call.results), strict=True
        )
        sizes.update({n: stored_bytes(shape) * code_bytes(subnet, n) for n, shape in named})
    for call in subnet.calls:
        if isinstance(call.layer, ColourConversion):
            name = call.layer.output
            sizes[name] = math.prod(call.results[0]) * code_bytes(subnet, name)
    flat = [*zip(subnet.inputs, subnet.input_shapes, strict=True)]
    flat += [(c.layer.output, c.results[0]) for c in subnet.calls if isinstance(c.layer, Convert)]
    for name, shape in flat:
        if as_nhwc(shape)[3] <= PIXELS:
            sizes[name] = math.prod(shape) * code_bytes(subnet, name)
    return sizes
