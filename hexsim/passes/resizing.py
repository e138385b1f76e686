"""Gives a converted network inputs of another shape.

Rules
1. Every layer's shape rule is applied again, in order.
2. A pooling whose window covers its whole input is global and stays so.
3. Layers that depend on a fixed shape (an opaque layer, the target of a reshape, the weights of a
   fully connected layer, the channels of any layer with parameters) must still fit.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from hexsim.errors import HexsimError, InvalidDataError, unknown
from hexsim.graph.consistency import require_layer
from hexsim.graph.ir import Layer, Network, Shape, Tensor
from hexsim.layers import (
    Concat,
    FullyConnected,
    Gather,
    Normalization,
    Opaque,
    Pooling,
    Reshape,
    StridedSlice,
)


def resized(network: Network, input_dims: Mapping[str, Sequence[int]]) -> Network:
    """Return `network` with inputs of the shapes `input_dims`, in ONNX axis order.

    Raises HexsimError for an unknown input, a wrong rank, or a layer that cannot follow.
    """
    tensors = dict(network.tensors)
    for name, dims in input_dims.items():
        if name not in network.inputs:
            raise unknown(f"input of network '{network.name}'", name, network.inputs)
        tensors[name] = _input(tensors[name], dims)
    layers = []
    for layer in network.layers:
        before = network.input_shapes(layer)
        after = tuple(
            tensors[name].shape if name in tensors else network.constants[name].shape
            for name in layer.inputs
        )
        if after != before:
            layer = _fitted(layer, before, after)
            if isinstance(layer, Normalization) and not _is_spread(layer, network, after[0]):
                raise _misfit(layer, "its scale and shift are for other sizes")
            for name, shape in zip(layer.outputs, _shapes(layer, after), strict=True):
                tensors[name] = replace(tensors[name], shape=shape)
        layers.append(layer)
    return replace(network, layers=tuple(layers), tensors=tensors)


def _is_spread(layer: Normalization, network: Network, shape: Shape) -> bool:
    """Return whether scale and shift still broadcast to an input of `shape`."""
    shapes = [network.constants[name].shape for name in layer.parameters]
    try:
        return np.broadcast_shapes(*shapes, shape) == shape
    except ValueError:
        return False


def _input(tensor: Tensor, dims: Sequence[int]) -> Tensor:
    if tensor.shape == () and tuple(dims) == (1,):
        return tensor  # no list of sizes can be empty
    if len(dims) != len(tensor.shape):
        raise HexsimError(
            f"input '{tensor.name}' has {len(tensor.shape)} dimensions, "
            f"{','.join(map(str, dims))} has {len(dims)}"
        )
    return replace(tensor, shape=tuple(dims[axis] for axis in tensor.order))


def _fitted(layer: Layer, before: Sequence[Shape], after: Sequence[Shape]) -> Layer:
    """Return the layer for inputs of shapes `after`; HexsimError if it cannot be resized."""
    if isinstance(layer, Opaque):
        raise _misfit(layer, "what its output shape depends on is only known at conversion")
    if isinstance(layer, Reshape) and math.prod(after[0]) != math.prod(layer.shape):
        raise _misfit(layer, f"its target shape {layer.shape} is fixed")
    if isinstance(layer, FullyConnected):
        if math.prod(after[0][1:]) != math.prod(before[0][1:]):
            raise _misfit(layer, f"its weights are for {math.prod(before[0][1:])} inputs")
    elif layer.parameters and after[0][-1] != before[0][-1]:
        raise _misfit(layer, f"its weights are for {before[0][-1]} channels")
    if isinstance(layer, Concat):
        other_sizes = {shape[: layer.axis] + shape[layer.axis + 1 :] for shape in after}
        if len(other_sizes) > 1:
            raise _misfit(layer, "its inputs no longer have the same size")
    if isinstance(layer, StridedSlice) and any(
        after[0][part.axis] != before[0][part.axis] for part in layer.parts
    ):
        raise _misfit(layer, "it takes a fixed part of an axis that changes")
    if isinstance(layer, Gather) and after[0][layer.axis] != before[0][layer.axis]:
        raise _misfit(layer, "it takes fixed positions of an axis that changes")
    if isinstance(layer, Pooling) and layer.is_global(*before[0][1:3]):
        height, width = after[0][1:3]
        return layer.replace(window=replace(layer.window, kernel=(height, width)))
    return layer


def _shapes(layer: Layer, inputs: Sequence[Shape]) -> tuple[Shape, ...]:
    """Return the output shapes for `inputs`; HexsimError if there are none."""
    try:
        return require_layer(layer, inputs)
    except InvalidDataError as error:
        raise _misfit(layer, str(error)) from None


def _misfit(layer: Layer, reason: str) -> HexsimError:
    return HexsimError(
        f"layer '{layer.name}' ({layer.type}) does not fit the given input shape: {reason}; "
        "convert the ONNX file with that shape"
    )
