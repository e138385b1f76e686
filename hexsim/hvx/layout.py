"""The d32 layout of activations in Hexagon NN, with its padding.

It is NHWC cut into slices of 32 channels, `[batch][height][depth / 32][width][32]`: four pixels of
one slice are one 128-byte vector. The width is a multiple of four, the channels a multiple of 32.

Left out: the padding around the image (four pixels on the left, rows above and below), of which
only a few lines are moved. Some kernels compute the pixels on the left (`padded_vectors`).

Source: Hexagon NN, docs/d32.txt and hexagon/ops/src/op_supernode_new.c.
"""

import math

from hexsim.graph.batches import as_nhwc
from hexsim.graph.ir import Shape
from hexsim.layers import ColourConversion, Convert, Convolution
from hexsim.planning.plan import KernelCall, PlannedSubnet

VECTOR_BYTES = 128
DEPTH_SLICE = 32
"""Channels of one slice."""
PIXELS = 4
"""Pixels of one vector."""


def ceil_div(a: int, b: int) -> int:
    """Return a / b rounded up."""
    return -(-a // b)


def depth_slices(channels: int) -> int:
    """Return the number of 32-channel slices."""
    return ceil_div(channels, DEPTH_SLICE)


def row_vectors(width: int) -> int:
    """Return the vectors of one row of one slice that are computed."""
    return ceil_div(width, PIXELS)


def padded_vectors(width: int) -> int:
    """Return the vectors of one row of one slice with the four pixels of padding on its left.

    Kernels that treat whole rows compute the padding too.
    """
    return ceil_div(width + PIXELS, PIXELS)


def vectors(shape: Shape) -> int:
    """Return the vectors that a kernel computes for a tensor, with padding."""
    batch, height, width, channels = as_nhwc(shape)
    return batch * height * depth_slices(channels) * row_vectors(width)


def vector_sizes(shape: Shape) -> dict[int, int]:
    """Return for each axis whose positions share a vector how many do."""
    _, height, width, _ = as_nhwc(shape)
    last = len(shape) - 1
    if height == width == 1:
        return {last: VECTOR_BYTES}
    return {last: DEPTH_SLICE, last - 1: PIXELS}


def stored_bytes(shape: Shape) -> int:
    """Return the bytes of a tensor of 8-bit codes; without spatial axes it is stored flat."""
    batch, height, width, channels = as_nhwc(shape)
    if height == width == 1:
        return batch * ceil_div(channels, VECTOR_BYTES) * VECTOR_BYTES
    return vectors(shape) * VECTOR_BYTES


def code_bytes(subnet: PlannedSubnet, name: str) -> int:
    """Return the bytes of one quantised value of a tensor."""
    return max(1, subnet.bits.get(name, 8) // 8)


def is_spatial(shape: Shape) -> bool:
    """Tell whether a tensor has several pixels, so that it is stored in d32."""
    _, height, width, _ = as_nhwc(shape)
    return height * width > 1


def has_few_channels(shape: Shape) -> bool:
    """Tell whether the first-layer kernel reads the pixels of an image as four bytes."""
    return is_spatial(shape) and as_nhwc(shape)[3] <= PIXELS


def reads_flat(call: KernelCall) -> bool:
    """Tell whether a call reads a flat image: first layers, and conversions before them."""
    layer = call.layer
    if isinstance(layer, Convolution):
        return layer.groups == 1 and has_few_channels(call.operands[0])
    return isinstance(layer, ColourConversion | Convert) and has_few_channels(call.operands[0])


def flat_tensors(subnet: PlannedSubnet) -> frozenset[str]:
    """Return images of few channels that are never in d32, because all calls use them flat."""
    calls = subnet.calls
    written_in_d32 = {name for call in calls if not reads_flat(call) for name in call.layer.outputs}
    written_in_d32 |= {
        name for c in calls if isinstance(c.layer, Convolution) for name in c.layer.outputs
    }
    read_in_d32 = {name for call in calls if not reads_flat(call) for name in call.layer.inputs}
    shapes = dict(zip(subnet.inputs, subnet.input_shapes, strict=True))
    for call in calls:
        shapes.update(zip(call.layer.outputs, call.results, strict=True))
    return frozenset(
        name
        for name, shape in shapes.items()
        if has_few_channels(shape) and name not in written_in_d32 | read_in_d32
    )


def tensor_sizes(subnet: PlannedSubnet) -> dict[str, int]:
    """Return the stored bytes of every tensor and operand of a subnet, by name."""
    sizes: dict[str, int] = {}
    flat = flat_tensors(subnet)
    for call in subnet.calls:
        tensors = zip(
            (*call.layer.inputs, *call.layer.outputs), (*call.operands, *call.results), strict=True
        )
        for name, shape in tensors:
            size = math.prod(shape) if name in flat else stored_bytes(shape)
            sizes[name] = size * code_bytes(subnet, name)
    return sizes
