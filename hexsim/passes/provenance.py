"""Traces the tensors and constants of a network through optimisation."""

from collections.abc import Mapping
from dataclasses import dataclass

from hexsim.graph.ir import Layer, Network
from hexsim.layers import Permute, Reshape
from hexsim.passes.no_ops import is_no_op


@dataclass(frozen=True)
class Provenance:
    """Names that the optimised network no longer has.

    `renamed` maps a tensor to the one that has the same values now. `absorbed` maps a tensor or
    constant to the layer that computes with it internally, or to an empty string if none does.
    """

    renamed: Mapping[str, str]
    absorbed: Mapping[str, str]


def provenance(before: Network, after: Network) -> Provenance:
    """Trace the names of `before` to `after`, the optimised network.

    1. A layer and those it fused are its members; it writes the output of the last member.
    2. Outputs of other members, and the constants of all, are absorbed.
    3. The output of a layer without effect, or of an absorbed reshape or permute, has the values of
       its input.
    4. All other missing names contribute to no output, or were part of a pattern.
    """
    owners = {name: layer for layer in after.layers for name in (layer.name, *layer.fused)}
    last = {owners[layer.name].name: layer for layer in before.layers if layer.name in owners}
    renamed: dict[str, str] = {}
    absorbed: dict[str, str] = {}
    for layer in before.layers:
        owner = owners.get(layer.name)
        for name in layer.outputs:
            if name in after.tensors:
                continue
            if owner is not None and last[owner.name] is layer and len(layer.outputs) == 1:
                renamed[name] = owner.output
            elif is_no_op(layer, before) or (owner is not None and _moves(layer)):
                _follow(name, layer.inputs[0], after, renamed, absorbed)
            else:
                absorbed[name] = owner.name if owner is not None else ""
        for name in _constants(layer, before):
            if name not in after.constants:
                absorbed[name] = owner.name if owner is not None else ""
    return Provenance(renamed, absorbed)


def _follow(
    name: str, source: str, after: Network, renamed: dict[str, str], absorbed: dict[str, str]
) -> None:
    """Give `name` the same entry as `source`, whose layer came before."""
    if source in after.tensors:
        renamed[name] = source
    elif source in renamed:
        renamed[name] = renamed[source]
    else:
        absorbed[name] = absorbed.get(source, "")


def _moves(layer: Layer) -> bool:
    return isinstance(layer, Reshape | Permute)


def _constants(layer: Layer, network: Network) -> tuple[str, ...]:
    operands = (name for name in layer.inputs if name in network.constants)
    return (*layer.parameters, *operands)
