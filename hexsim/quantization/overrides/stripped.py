"""Overrides from the nodes of an ONNX file, and the names of overrides after optimising."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from hexsim.graph.ir import Network
from hexsim.quantization.overrides.override import IntegerOverride, Override, Overrides, Range

if TYPE_CHECKING:
    from hexsim.onnx_io.read.node_codes import NodeCodes
    from hexsim.passes.provenance import Provenance


def from_nodes(codes: Mapping[str, NodeCodes], network: Network) -> Overrides:
    """Return the overrides of a file's nodes, by the names of `network` as it was read."""
    activations: dict[str, Override] = {}
    parameters: dict[str, Override] = {}
    for name, code in codes.items():
        section = parameters if name in network.constants else activations
        if name in network.constants or name in network.tensors:
            section[name] = _override(code)
    return Overrides(activations, parameters)


def followed(overrides: Overrides, provenance: Provenance) -> Overrides:
    """Return `overrides` with the tensors or layers that their keys name after optimising."""
    keys = {*overrides.activations, *overrides.parameters, *overrides.unassigned}
    return replace(
        overrides,
        renamed={key: name for key, name in provenance.renamed.items() if key in keys},
        absorbed={key: name for key, name in provenance.absorbed.items() if key in keys},
    )


def overrides_of_model(
    overrides: Overrides | None, own: Overrides, provenance: Provenance | None
) -> Overrides:
    """Return the overrides to apply to a float model: `overrides`, else those of its `own` nodes.

    Names that disappeared when the network was optimised are followed, as in a file of overrides
    that a command applies while it converts the model.
    """
    if overrides is None:
        return own
    if provenance is None:
        return overrides
    return overrides.over(replace(followed(overrides, provenance), activations={}, parameters={}))


def _override(codes: NodeCodes) -> IntegerOverride:
    ranges = tuple(
        Range(scale=scale, offset=offset)
        for scale, offset in zip(codes.scales, codes.offsets, strict=True)
    )
    return IntegerOverride(codes.bits, ranges, True if codes.symmetric else None, "QDQ node")
