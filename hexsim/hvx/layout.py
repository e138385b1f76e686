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
from hexsim.layers import ColourConversion, Convert, Convolution
from hexsim.planning.plan import KernelCall, PlannedSubnet

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


def is_spatial(shape: Shape) -> bool:
    """True for tensors that d32 is for; those of one pixel are flat anyway."""
    _, height, width, _ = as_nhwc(shape)
    return height * width > 1


def has_few_channels(shape: Shape) -> bool:
    """True for images whose pixels the first-layer kernel takes as four bytes."""
    return is_spatial(shape) and as_nhwc(shape)[3] <= PIXELS


def reads_flat(call: KernelCall) -> bool:
    """True if a call takes images of few channels flat: first layers and what lies before them."""
    layer = call.layer
    if isinstance(layer, Convolution):
        return layer.groups == 1 and has_few_channels(call.operands[0])
    return isinstance(layer, ColourConversion | Convert) and has_few_channels(call.operands[0])


def flat_tensors(subnet: PlannedSubnet) -> frozenset[str]:
    """Images of few channels that never see d32: everybody who touches them takes them flat."""
    calls = subnet.calls
    made = {name for call in calls if not reads_flat(call) for name in call.layer.outputs}
    made |= {name for c in calls if isinstance(c.layer, Convolution) for name in c.layer.outputs}
    read = {name for call in calls if not reads_flat(call) for name in call.layer.inputs}
    shapes = dict(zip(subnet.inputs, subnet.input_shapes, strict=True))
    for call in calls:
        shapes.update(zip(call.layer.outputs, call.results, strict=True))
    return frozenset(
        name
        for name, shape in shapes.items()
        if has_few_channels(shape) and name not in made | read
    )


def tensor_sizes(subnet: PlannedSubnet) -> dict[str, int]:
    """Stored bytes of every tensor and operand of a subnet, by name."""
    sizes: dict[str, int] = {}
    flat = flat_tensors(subnet)
    for call in subnet.calls:
        named = zip(
            (*call.layer.inputs, *call.layer.outputs), (*call.operands, *call.results), strict=True
        )
        for name, shape in named:
            size = math.prod(shape) if name in flat else stored_bytes(shape)
            sizes[name] = size * code_bytes(subnet, name)
    return sizes
