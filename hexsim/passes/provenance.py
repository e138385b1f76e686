"""Fate: what became of the tensors and constants of a network when it was optimised."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from hexsim.graph.ir import Layer, Network
from hexsim.layers import Permute, Reshape
from hexsim.passes.no_ops import is_no_op


@dataclass(frozen=True)
class Provenance:
    """Names that the optimised network has no more.

    `renamed` maps a tensor to the one that holds the same values now; `absorbed` maps a tensor
    or constant to the layer that computes with it inside, or to an empty string if none does.
    """

    renamed: Mapping[str, str]
    absorbed: Mapping[str, str]


def provenance(before: Network, after: Network) -> Provenance:
    """Tell what became of the names of `before`, of which the passes made `after`.

    1. A layer and those it fused are its members; what the last member wrote, the layer writes.
    2. What other members wrote, and the constants of all, are absorbed.
    3. The output of a layer without effect, or of a reshape or permute that was absorbed, holds
       what its input holds.
    4. Whatever else is gone contributes to no output, or was part of a pattern.
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
    """Let `name` share the fate of `source`, whose layer came before."""
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
