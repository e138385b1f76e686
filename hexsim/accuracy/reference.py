"""Compare a quantised file with its float network: the file's own weights were rounded."""

from dataclasses import replace

from hexsim.errors import HexsimError
from hexsim.graph.ir import Network
from hexsim.quantization.equalization import equalize
from hexsim.quantization.float_layers import with_conversions
from hexsim.quantization.masks import Masks
from hexsim.quantization.model import Model


def with_reference(model: Model, reference: Network) -> Model:
    """Return `model`, its codes and encodings, with the float weights of `reference`.

    Runtimes still compute with the constants that `model` holds. Masks have the values of those of
    `model`, which differ from the file's. The float file has no convert layers; they are inserted
    as by the quantiser. Pictures become inputs as `model` says. If weights of `model` were
    equalised, `reference` is equalised too, so that tensors can be compared. Raises HexsimError
    unless both have the same layers and shapes.
    """
    equalized = equalize(reference).network if model.equalized else reference
    return with_floats_of(model, equalized)


def with_floats_of(model: Model, reference: Network) -> Model:
    """Return the same for a `reference` that is equalised already if `model` is."""
    quantised_network = model.network
    reference = Masks.of(reference).with_those_of(quantised_network)
    formats = {**reference.input_formats, **quantised_network.input_formats}
    reference = replace(reference, input_formats=formats)
    stored = {name: model.stored(name) for name in quantised_network.constants}
    floats = replace(model, network=reference, stored_constants=stored, reference="float network")
    restored = with_conversions(floats)
    float_network = restored.network
    if quantised_network.layers != float_network.layers or dict(quantised_network.tensors) != dict(
        float_network.tensors
    ):
        pairs = zip(quantised_network.layers, float_network.layers, strict=False)
        name = next((a.name for a, b in pairs if a != b), None)
        where = f"layer '{name}' differs" if name else "layers or shapes differ"
        raise HexsimError(
            f"network '{float_network.name}' is not the one that '{quantised_network.name}' was "
            f"quantised from: {where}; give the float file that was quantised"
        )
    return restored
