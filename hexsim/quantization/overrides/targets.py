"""Finds the tensor of the network that a key of the overrides names.

1. A key of an activation is the name of a tensor, or of a constant that is an operand. If no
   tensor has the name, the name of a layer stands for its outputs.
2. A key of a parameter is the name of a weight or bias. If several layers shared it before batch
   norms were folded into it, or before it took the shapes that they read, the key names the copies
   of all these layers. A constant that is an operand may be named here as well.
3. If optimising removed a tensor, its key names the tensor that now holds the values, or the layer
   that took it over.

In files without sections, names of constants are parameters; every other name is an activation,
also one that is unknown and is reported later.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from typing import TYPE_CHECKING

from hexsim.errors import HexsimError
from hexsim.graph.ir import Constant, Layer, Network
from hexsim.layers import Convolution
from hexsim.quantization.overrides import (
    IntegerOverride,
    Override,
    Overrides,
    Range,
    Section,
    TensorOverride,
)
from hexsim.records import dataclass, replace

if TYPE_CHECKING:
    from hexsim.onnx_io.read.node_codes import NodeCodes
    from hexsim.passes.provenance import Provenance


def labels_of(parameter: str, layer: Layer, overrides: Overrides) -> tuple[str, ...]:
    """Return the names by which keys may name a parameter of `layer` (rule 2), its own first."""
    original = parameter.removeprefix(f"{layer.name}.")
    of_file = overrides.rearranged.get(original, original)
    return tuple(dict.fromkeys((parameter, original, of_file)))


@dataclass(frozen=True)
class Missing:
    """A key without target: whether the tensor was absorbed or is unknown, and the message."""

    known: bool
    reason: str


class Targets:
    """The tensors and constants of a network that keys may name."""

    def __init__(self, network: Network, overrides: Overrides) -> None:
        self._network = network
        self._renamed = overrides.renamed
        self._absorbed = overrides.absorbed
        self._operands: dict[str, list[str]] = {}
        self._layers = {layer.name: layer for layer in network.layers}
        self._copies: dict[str, list[str]] = {}
        for layer in network.layers:
            for name in layer.parameters:
                for label in labels_of(name, layer, overrides):
                    self._copies.setdefault(label, []).append(name)
            for name in filter(network.constants.__contains__, layer.inputs):
                for label in {name, overrides.rearranged.get(name, name)}:
                    self._operands.setdefault(label, []).append(name)

    def of(self, section: Section, key: str) -> tuple[str, ...] | Missing:
        """Return the tensors or constants that `key` names, or why there are none."""
        network = self._network
        key = self._renamed.get(key, key)
        copies = self._copies.get(key, []) if section == "parameter" else []
        if constants := dict.fromkeys((*copies, *self._operands.get(key, []))):
            return tuple(constants)
        if section == "activation" and key in network.tensors:
            return (key,)
        if section == "activation" and key in self._layers and key not in self._absorbed:
            return self._layers[key].outputs
        return Missing(*self._why(section, key))

    def remark(self, section: Section, key: str) -> str:
        """Return a remark if `key` is the name of a layer, which stands for its outputs, or ""."""
        key = self._renamed.get(key, key)
        targets = self.of(section, key)
        if isinstance(targets, Missing) or key in targets or key not in self._layers:
            return ""
        written = ", ".join(f"'{name}'" for name in targets)
        return f"that is a layer, not a tensor; its output {written} is meant"

    def knows(self, section: Section, key: str) -> bool:
        """Return True if `key` names anything in the network, even if it cannot be used there."""
        network, name = self._network, self._renamed.get(key, key)
        return (
            name in self._absorbed
            or name in network.tensors
            or (section == "activation" and name in self._layers)
            or (name in network.constants or name in self._operands)
            or (section == "parameter" and name in self._copies)
        )

    def _names(self, section: Section) -> set[str]:
        if section == "activation":
            return {*self._network.tensors, *self._operands}
        return {*self._network.weights, *self._operands}

    def _why(self, section: Section, key: str) -> tuple[bool, str]:
        network = self._network
        if key in self._absorbed:
            layer = self._layers.get(self._absorbed[key])
            if layer is None:
                if section == "parameter":
                    return True, "no layer has its numbers as they are in the file"
                return True, "removed at conversion; no layer computes it any more"
            what = "tensor" if section == "activation" else "constant"
            written = ", ".join(f"'{name}'" for name in layer.outputs)
            return True, f"{what} was absorbed into layer '{layer.name}', which writes {written}"
        if key in network.tensors:
            return True, "it is an activation; give it in the section of activations"
        if key in network.weights:
            return True, "it is a parameter; give it in the section of parameters"
        if key in self._layers:
            written = ", ".join(f"'{name}'" for name in self._layers[key].outputs)
            return False, f"that is a layer; it writes {written}"
        nearest = difflib.get_close_matches(key, sorted(self._names(section)), n=1, cutoff=0.5)
        return (
            False,
            f"no such tensor; the nearest is '{nearest[0]}'" if nearest else "no such name",
        )


def require_this_network(overrides: Overrides, network: Network) -> None:
    """Raise HexsimError if there are overrides and none of them names anything in `network`."""
    targets = Targets(network, overrides)
    all_keys = [(section, key) for section, keys in overrides.sections() for key in keys]
    if not all_keys or any(targets.knows(section, key) for section, key in all_keys):
        return
    missing = targets.of(*all_keys[0])
    reason = missing.reason if isinstance(missing, Missing) else ""
    raise HexsimError(
        f"none of the {len(all_keys)} overrides names a tensor of network '{network.name}'; "
        f"they seem to be for another network ('{all_keys[0][1]}': {reason})"
    )


def assigned(overrides: Overrides, network: Network) -> Overrides:
    """Return `overrides` with all of them in sections.

    Raises HexsimError, naming the key, if a weight has its channels on another axis than that of
    its output channels.
    """
    if not overrides.unassigned:
        return overrides
    parameters = {
        *network.constants,
        *overrides.rearranged.values(),
        *(
            label
            for layer in network.layers
            for name in layer.parameters
            for label in labels_of(name, layer, overrides)
        ),
    }
    sections: tuple[dict[str, Override], dict[str, Override]] = ({}, {})
    for key, tensor in overrides.unassigned.items():
        if key in parameters and key not in network.tensors:
            _require_axis(key, tensor, network)
            sections[1][key] = tensor.override
        else:
            sections[0][key] = tensor.override
    activations, of_constants = sections
    return replace(
        overrides,
        activations={**activations, **overrides.activations},
        parameters={**of_constants, **overrides.parameters},
        unassigned={},
    )


def _require_axis(key: str, tensor: TensorOverride, network: Network) -> None:
    """Check the axis of a convolution's weight; other layers have their channels on either axis."""
    override = tensor.override
    if tensor.axis is None or not isinstance(override, IntegerOverride):
        return
    for layer in network.layers:
        if isinstance(layer, Convolution) and layer.weight == key and override.per_channel:
            rank = len(network.constants[key].shape)
            if tensor.axis not in (0, -rank):
                raise HexsimError(
                    f"override '{key}': key 'axis' is {tensor.axis}; the kernels have a scale per "
                    "output channel, which is axis 0 of a convolution's weight"
                )


_LARGEST_FACTOR = 1e30
"""Largest factor of a channel; steps and ranges times it are still finite in float32 (assumed)."""


def from_nodes(codes: Mapping[str, NodeCodes], network: Network) -> Overrides:
    """Return the overrides of a file's nodes, by the names of the file; `network` is as read."""
    overrides = {name: _override(code) for name, code in codes.items()}
    activations = {
        name: override for name, override in overrides.items() if name in network.tensors
    }
    parameters = {
        name: override for name, override in overrides.items() if name not in network.tensors
    }
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
