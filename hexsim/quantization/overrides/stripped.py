"""Overrides from the nodes of an ONNX file, and the names of overrides after optimising."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from hexsim.graph.ir import Constant, Network
from hexsim.quantization.overrides.override import IntegerOverride, Overrides, Range

if TYPE_CHECKING:
    from hexsim.onnx_io.read.node_codes import NodeCodes
    from hexsim.passes.provenance import Provenance


_LARGEST_FACTOR = 1e30
"""Largest factor of a channel; steps and ranges times it are still finite in float32 (assumed)."""


def from_nodes(codes: Mapping[str, NodeCodes], network: Network) -> Overrides:
    """Return the overrides of a file's nodes, by the names of the file; `network` is as read."""
    overrides = {name: _override(code) for name, code in codes.items()}
    activations = {name: given for name, given in overrides.items() if name in network.tensors}
    parameters = {name: given for name, given in overrides.items() if name not in network.tensors}
    return Overrides(activations, parameters)


def followed(overrides: Overrides, provenance: Provenance) -> Overrides:
    """Return `overrides` with the tensors or layers that their keys name after optimising."""
    keys = {*overrides.activations, *overrides.parameters, *overrides.unassigned}
    rearranged = {name: key for name, key in provenance.rearranged.items() if key in keys}
    folded = {
        name: _factors(factor)
        for name, factor in provenance.folded.items()
        if name in keys or name in rearranged
    }
    folded = {name: factors for name, factors in folded.items() if factors != (1.0,)}
    return replace(
        overrides,
        renamed={key: name for key, name in provenance.renamed.items() if key in keys},
        absorbed={key: name for key, name in provenance.absorbed.items() if key in keys},
        rearranged=rearranged,
        folded=folded,
        inside=provenance.inside if keys else {},
    )


def _factors(factor: Constant | None) -> tuple[float, ...]:
    """Return the numbers of a factor; none for None, and if steps cannot be multiplied by them."""
    factors = () if factor is None else tuple(map(float, factor.value().reshape(-1)))
    return factors if all(abs(number) <= _LARGEST_FACTOR for number in factors) else ()


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
