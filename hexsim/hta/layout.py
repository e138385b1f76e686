"""The layout of activations of the tensor engine, in DDR and in its local memory, with padding.

It is like Hexagon NN's d32: rows of whole groups of four pixels, blocks of 32 channels. Tensors of
one pixel are flat. Images of few channels are padded as all others: a 1x1 convolution of one
channel over 256x256 pixels takes 2.6 ms on sd865, which the unpadded bytes cannot explain
(inferred).

Sources: Hexagon NN, docs/ops.txt, has an operation that converts from "aix d32", so the engine's
layout is d32 in another order (documented), with the same padding (inferred).
"""

import math

from hexsim.graph.batches import as_nhwc
from hexsim.graph.ir import Shape
from hexsim.hvx.layout import DEPTH_SLICE, PIXELS, ceil_div


def is_flat(shape: Shape) -> bool:
    """Tell whether a tensor has one pixel, so that it is stored flat."""
    _, height, width, _ = as_nhwc(shape)
    return height * width == 1


def padded_width(shape: Shape) -> int:
    """Return the pixels of one stored row."""
    width = as_nhwc(shape)[2]
    return width if is_flat(shape) else ceil_div(width, PIXELS) * PIXELS


def padded_channels(shape: Shape) -> int:
    """Return the channels of one stored pixel."""
    channels = as_nhwc(shape)[3]
    return channels if is_flat(shape) else ceil_div(channels, DEPTH_SLICE) * DEPTH_SLICE


def tensor_bytes(shape: Shape, bits: int) -> int:
    """Return the bytes of a tensor in the engine's layout."""
    batch, height, _, _ = as_nhwc(shape)
    return batch * height * padded_width(shape) * padded_channels(shape) * bits // 8


def flat_bytes(shape: Shape, bits: int) -> int:
    """Return the bytes of a tensor without padding."""
    return math.prod(shape) * bits // 8
