"""Overrides from the nodes of an ONNX file, and the names of both kinds after optimising."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from hexsim.graph.ir import Network
from hexsim.quantization.overrides.override import (
    IntegerOverride,
    Override,
    Overrides,
    Range,
)

if TYPE_CHECKING:
    from hexsim.onnx_io.read.node_codes import NodeCodes
    from hexsim.passes.provenance import Provenance


def from_nodes(codes: Mapping[str, NodeCodes], network: Network) -> Overrides:
    """Return what the nodes of a file said, by the names of `network` as it was read."""
    activations: dict[str, Override] = {}
    parameters: dict[str, Override] = {}
    for name, code in codes.items():
        section = parameters if name in network.constants else activations
        if name in network.constants or name in network.tensors:
            section[name] = _override(code)
    return Overrides(activations, parameters)


def followed(overrides: Overrides, provenance: Provenance) -> Overrides:
    """Return `overrides` with what became of their keys when the network was optimised."""
    keys = {*overrides.activations, *overrides.parameters}
    return replace(
        overrides,
        renamed={key: name for key, name in provenance.renamed.items() if key in keys},
        absorbed={key: name for key, name in provenance.absorbed.items() if key in keys},
    )


def asked(overrides: Overrides | None, own: Overrides, provenance: Provenance | None) -> Overrides:
    """Return what is to be applied to a float model: `overrides`, else those of its `own` nodes.

    Names that went when its network was optimised are followed, as they are for a file of
    overrides that a command converts the model with.
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
