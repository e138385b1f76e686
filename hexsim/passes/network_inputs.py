"""Gives the inputs of a converted network other formats, or other shapes.

Formats, with a colour conversion after inputs that need one: an input keeps its name; the layer
writes `<input>.bgr`, which all readers of the input read. A converted input must be an image of
three channels; it gets the shape of the encoding. An input of NV21 has the type image by default.

Shapes: every layer's shape rule is applied again, in order. A pooling whose window covers its whole
input is global and stays so. Layers that depend on a fixed shape (an opaque layer, the target of a
reshape, the weights of a fully connected layer, parameters per channel) must still fit.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from hexsim.errors import HexsimError, InvalidDataError, spelled, unknown
from hexsim.graph.consistency import require_layer
from hexsim.graph.ir import Layer, Network, Shape, Tensor
from hexsim.graph.network_ends import (
    INPUT_ENCODINGS,
    INPUT_TYPES,
    PLAIN,
    InputEncoding,
    InputType,
    PictureSteps,
)
from hexsim.layers import (
    ColourConversion,
    Concat,
    FullyConnected,
    Gather,
    Normalization,
    Opaque,
    Pooling,
    Reshape,
    StridedSlice,
)
from hexsim.layers.images import CONVERTED, ConvertedEncoding, encoded_shape


def set_input_formats(
    network: Network, types: Mapping[str, InputType], encodings: Mapping[str, InputEncoding]
) -> Network:
    """Return `network` with inputs of `types` in `encodings`, both by name of the input.

    Raises HexsimError for an unknown input, type or encoding, for an input that is no picture or
    not float, and for types and encodings that exclude each other.
    """
    formats = dict(network.input_formats)
    chosen = (("input_type", types, INPUT_TYPES), ("input_encoding", encodings, INPUT_ENCODINGS))
    for option, choices, known in chosen:
        for name, choice in choices.items():
            if choice not in known:
                raise unknown(f"{spelled(option)} of input '{name}',", choice, known)
    for name in dict.fromkeys((*types, *encodings)):
        if name not in network.inputs:
            raise unknown(f"input of network '{network.name}'", name, network.inputs)
        if network.tensors[name].dtype != "float32":
            raise HexsimError(
                f"input '{name}' holds {network.tensors[name].dtype}; {spelled('input_type')} and "
                f"{spelled('input_encoding')} are for float32 inputs"
            )
        encoding = encodings.get(name, "bgr")
        kind = types.get(name, "image" if encoding == "nv21" else "default")
        if encoding == "nv21" and kind != "image":
            raise HexsimError(
                f"input '{name}' is nv21, which is bytes, so it cannot be of type {kind}; "
                f"leave its {spelled('input_type')} out"
            )
        formats[name] = replace(network.input_format(name), type=kind, encoding=encoding)
        if encoding in CONVERTED:
            network = _converted(network, name, encoding)
    return replace(network, input_formats={n: form for n, form in formats.items() if form != PLAIN})


def set_pictures(network: Network, steps: PictureSteps) -> Network:
    """Return `network` with a note of how pictures become its input; the default steps need none.

    Raises HexsimError if there are several inputs.
    """
    if len(network.inputs) != 1:
        raise HexsimError(
            f"network '{network.name}' has {len(network.inputs)} inputs; pictures can feed one"
        )
    (name,) = network.inputs
    stored = None if steps == PictureSteps() else steps
    form = replace(network.input_format(name), pictures=stored)
    formats = {**network.input_formats, name: form}
    return replace(network, input_formats={n: form for n, form in formats.items() if form != PLAIN})


def _converted(network: Network, name: str, encoding: ConvertedEncoding) -> Network:
    tensor = network.tensors[name]
    if len(tensor.shape) != 4 or tensor.shape[-1] != 3:
        raise HexsimError(
            f"input '{name}' is stored as {'x'.join(map(str, tensor.shape))}; a colour conversion "
            "needs a picture, batch x height x width x 3 channels"
        )
    try:
        shape = encoded_shape(encoding, tensor.shape)
    except InvalidDataError as error:
        resize = f"resize it with {spelled('input_dims')}"
        raise HexsimError(f"input '{name}': {error}; {resize}") from None
    picture = replace(tensor, name=_new(f"{name}.bgr", network))
    layer = ColourConversion(
        name=_new(f"{name}.color_space_conversion", network),
        inputs=(name,),
        outputs=(picture.name,),
        input_encoding_in=encoding,
        input_encoding_out="bgr",
    )
    readers = [
        reader.replace(inputs=tuple(picture.name if n == name else n for n in reader.inputs))
        for reader in network.layers
    ]
    return network.with_layers([layer, *readers], [replace(tensor, shape=shape), picture])


def _new(name: str, network: Network) -> str:
    names = {*network.tensors, *network.constants, *(layer.name for layer in network.layers)}
    while name in names:
        name += "_"
    return name


def converted_tensor(tensor: Tensor, network: Network) -> Tensor:
    """Return the picture of input `tensor`: the output of its conversion, else itself."""
    for reader in network.consumers.get(tensor.name, ()):
        if isinstance(reader, ColourConversion):
            return network.tensors[reader.output]
    return tensor


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
    try:
        return require_layer(layer, inputs)
    except InvalidDataError as error:
        raise _misfit(layer, str(error)) from None


def _misfit(layer: Layer, reason: str) -> HexsimError:
    return HexsimError(
        f"layer '{layer.name}' ({layer.type}) does not fit the given input shape: {reason}; "
        "convert the ONNX file with that shape"
    )
