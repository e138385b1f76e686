"""Sets the formats of inputs, and adds a colour conversion after those that need one.

Rules
1. An input keeps its name; the layer writes `<input>.bgr`, which all readers of the input read.
2. A converted input must be an image of three channels; it gets the shape of the encoding.
3. NV21 is bytes, so its input has the type image by default.
"""

from collections.abc import Mapping
from dataclasses import replace

from hexsim.errors import HexsimError, InvalidDataError, spelled, unknown
from hexsim.graph.input_format import PLAIN, InputEncoding, InputType, PictureSteps
from hexsim.graph.ir import Layer, Network, Tensor
from hexsim.layers import ColourConversion
from hexsim.layers.images import CONVERTED, ConvertedEncoding, encoded_shape


def set_input_formats(
    network: Network, types: Mapping[str, InputType], encodings: Mapping[str, InputEncoding]
) -> Network:
    """Return `network` with inputs of `types` in `encodings`, both by name of the input.

    Raises HexsimError for an unknown input, one that is no picture or not float, and for types
    and encodings that exclude each other.
    """
    formats = dict(network.input_formats)
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
    readers = [_reading(reader, name, picture.name) for reader in network.layers]
    return network.with_layers([layer, *readers], [replace(tensor, shape=shape), picture])


def _reading(layer: Layer, old: str, new: str) -> Layer:
    return layer.replace(inputs=tuple(new if name == old else name for name in layer.inputs))


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
