"""Bytes of activations in VTCM: blocks of 2 KB ("croutons"), padded in channels, rows and columns.

A crouton holds 8 x 8 pixels of 32 channels in 8 bits, 8 x 4 in 16 (apache/tvm, Hexagon layouts).
Inputs and outputs of a graph with at most four channels stay flat.

A tensor of four axes is an image, unless it is an operand or the result of a product of two tensors
(attention). Any other is a row of matrices, the last two axes of each, if it
meets products of matrices, otherwise an image of one row (`as_image`). The
rows of a matrix take the places of the pixels, so that 64 of them fill a crouton in 8 bits and 32
in 16 (apache/tvm and ggml-org/llama.cpp: tiles of HMX).

The compiler gives every tensor four axes (layouts of QNN). One that has fewer becomes an image of
one row, of which a crouton fills eight; so seven eighths of what HVX computes are empty.
Products of matrices would waste as much of HMX; around them the rows of a matrix take the places
of the pixels. A layout spreads: tensors that layers connect have the same one, as long as they
have other than four axes (inferred: detections after a convolutional network are slow, and
networks of matrices are not).
"""

import math

from hexsim.graph.ir import Network, Shape
from hexsim.layers import Elementwise, FullyConnected, MatMul, Neuron, Softmax

ROWS, DEPTH = 8, 32
SHALLOW = 4
"""Channels up to which an image is assumed to stay flat."""
VECTOR_BYTES = 128
_IMAGE_AXES = 4
_KEEP_MATRICES = Elementwise | MatMul | Neuron | Softmax


def rounded_up(size: int, step: int) -> int:
    """Return the smallest multiple of `step` that is not below `size`."""
    return -(-size // step) * step


def as_image(shape: Shape) -> tuple[int, int, int, int]:
    """Return batch, rows, columns and channels; leading axes of other ranks become columns."""
    if len(shape) == 4:
        batch, rows, columns, channels = shape
        return batch, rows, columns, channels
    if not shape:
        return 1, 1, 1, 1
    return 1, 1, math.prod(shape[:-1]), shape[-1]


def rows_of_crouton(bits: int) -> int:
    """Return the rows of a matrix that fill a crouton."""
    return 64 if bits == 8 else 32


def padded_pixels(shape: Shape, bits: int) -> int:
    """Return the pixels of the croutons of a tensor."""
    if len(shape) != 4:
        rows, matrices = (1, 1, *shape)[-2], math.prod(shape[:-2])
        beside = rounded_up(matrices, ROWS) * rounded_up(rows, rows_of_crouton(bits) // ROWS)
        return min(matrices * rounded_up(rows, rows_of_crouton(bits)), beside)
    batch, rows, columns, _ = as_image(shape)
    return batch * rounded_up(rows, ROWS) * rounded_up(columns, 8 if bits == 8 else 4)


def padded_channels(channels: int) -> int:
    """Return the channels, rounded up to those of a crouton."""
    return rounded_up(channels, DEPTH)


def crouton_bytes(shape: Shape, bits: int) -> int:
    """Return the bytes of the croutons of a tensor."""
    channels = padded_channels(as_image(shape)[3])
    return padded_pixels(shape, bits) * channels * bits // 8


def stored_bytes(shape: Shape, bits: int) -> int:
    """Return the bytes of a tensor in VTCM: flat if it is shallow, otherwise in croutons."""
    if as_image(shape)[3] <= SHALLOW:
        return math.prod(shape) * bits // 8
    return crouton_bytes(shape, bits)


def working_bytes(shape: Shape, bits: int) -> int:
    """Return the bytes of a tensor that have to be in VTCM at once.

    Of a row of matrices that is one matrix: they do not depend on each other, and the compiler
    runs all operations on one of them before the next (assumed).
    """
    return stored_bytes(shape if len(shape) == 4 else shape[-2:], bits)


def in_tiles(network: Network) -> frozenset[str]:
    """Return the tensors that are matrices, because layers connect them with a product of matrices.

    Those of four axes are only if no other layer is between them and a product of two tensors than
    `_KEEP_MATRICES`, as in attention.
    """
    reached: set[str] = set()
    waiting = [
        name
        for layer in network.layers
        if isinstance(layer, FullyConnected | MatMul)
        for name in (*layer.inputs, *layer.outputs)
        if isinstance(layer, MatMul) or len(network.shape(name)) != _IMAGE_AXES
    ]
    while waiting:
        name = waiting.pop()
        if name not in network.tensors or name in reached:
            continue
        reached.add(name)
        is_image = len(network.shape(name)) == _IMAGE_AXES
        beside = list(network.consumers.get(name, ()))
        if name in network.producers:
            beside.append(network.producers[name])
        for layer in beside:
            waiting += [
                other
                for other in (*layer.inputs, *layer.outputs)
                if other in network.tensors
                and (len(network.shape(other)) == _IMAGE_AXES) == is_image
                and (not is_image or isinstance(layer, _KEEP_MATRICES))
            ]
    return frozenset(reached)
