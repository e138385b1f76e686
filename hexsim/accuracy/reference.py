"""The float network behind a quantised file, whose own weights were rounded when it was made."""

from __future__ import annotations

from dataclasses import replace

from hexsim.errors import HexsimError
from hexsim.graph.ir import Network
from hexsim.quantization.conversions import with_conversions
from hexsim.quantization.equalization import equalize
from hexsim.quantization.masks.found import Masks
from hexsim.quantization.model import Model


def with_reference(model: Model, reference: Network) -> Model:
    """The codes and encodings of `model` over the float weights of `reference`.

    Runtimes compute with the constants that `model` holds, as before.
    Masks reach as far as those of `model`, which are no codes of what the file holds.
    Convert layers are no part of the float file; they are inserted as the quantiser does it.
    If scales were moved between the layers of `model`, they are in `reference` too, so that
    tensors can be compared; its outputs change only as far as equalization changes them.
    Raises HexsimError unless both have the same layers and shapes.
    """
    if model.equalized:
        reference = equalize(reference).network
    ours = model.network
    reference = Masks.of(reference).with_those_of(ours)
    held = {name: model.stored(name) for name in ours.constants}
    restored = with_conversions(replace(model, network=reference, stored_constants=held))
    theirs = restored.network
    if ours.layers != theirs.layers or dict(ours.tensors) != dict(theirs.tensors):
        pairs = zip(ours.layers, theirs.layers, strict=False)
        other = next((a.name for a, b in pairs if a != b), None)
        where = f"layer '{other}' differs" if other else "layers or shapes differ"
        raise HexsimError(
            f"network '{theirs.name}' is not the one that '{ours.name}' was quantised from: "
            f"{where}; give the float file that was quantised"
        )
    return restored
