"""Decides which tensors stay float by overrides, and with how many bits.

1. A layer computes in floats if an override makes its output float, else in fixed point.
2. In a layer with quantised weights an override of the weight or of the bias does the same: output,
   weight and bias all become float. The first of them that has a float override states the width;
   the options may set that of the bias. Layers that share its weight become float too.
3. An input of the network, or a constant that is an operand, is float if it has a float override
   itself, or if only float layers of one width read it and no encoding is given for it.
4. Overrides do not change the bytes of an image, the outputs of opaque layers, and constants that
   only opaque layers read.

Source: the SNPE guide of 2025, mixed precision (documented) for 1 and 2, and for overrides that
give a width and no range, which are calibrated; 3, 4 and the order of precedence are our reading.
"""

from collections.abc import Iterable, Mapping
from typing import Literal, cast

from hexsim.graph.ir import Layer, Network
from hexsim.layers import Opaque, Recurrent, Weighted
from hexsim.quantization.encodings import Encoding, FloatBits
from hexsim.quantization.operands import coded_operands, stays_as_it_is
from hexsim.quantization.options import QuantizationOptions
from hexsim.quantization.overrides import FloatOverride, Outcome, Overrides
from hexsim.quantization.overrides.targets import Missing, Targets
from hexsim.records import dataclass, replace


@dataclass(frozen=True)
class FloatTensor:
    """The width of a tensor or constant that stays float, and the reason in a few words."""

    bits: FloatBits
    origin: str


def float_tensors(
    overrides: Overrides, network: Network, targets: Targets, options: QuantizationOptions
) -> dict[str, FloatTensor]:
    """Return the tensors and constants of `network` that stay float."""
    requested: dict[str, FloatBits] = {}
    coded: set[str] = set()
    for section, keys in overrides.sections():
        for key, override in keys.items():
            names = targets.of(section, key)
            if isinstance(names, Missing):
                continue
            if not isinstance(override, FloatOverride):
                coded.update(names)
                continue
            for name in names:
                if not _unchangeable(name, network):
                    requested.setdefault(name, override.float_bitwidth or options.float_bits)
    layers = _float_layers(requested, network)
    decided: dict[str, FloatTensor] = {}
    for layer in network.layers:
        if layer.name in layers:
            bits = layers[layer.name]
            for name in (*layer.outputs, *layer.parameters):
                is_bias = isinstance(layer, Weighted) and name == layer.bias
                own = options.float_bias_bits or bits if is_bias else bits
                origin = "override" if name in requested else f"as layer '{layer.name}' is"
                decided[name] = FloatTensor(own, origin)
    for name in (*network.inputs, *coded_operands(network)):
        readers = {layers.get(layer.name) for layer in network.consumers.get(name, ())}
        (bits_of_all, *others) = readers or {None}
        if name in requested:
            decided[name] = FloatTensor(requested[name], "override")
        elif bits_of_all and not others and name not in coded and not _unchangeable(name, network):
            decided[name] = FloatTensor(bits_of_all, "as its readers are")
    return decided


def all_in_floats(network: Network, bits: FloatBits) -> Overrides:
    """Return the overrides that keep every tensor of `network` float, with `bits` bits."""
    names = [*network.inputs, *(name for layer in network.layers for name in layer.outputs)]
    kept = (name for name in names if not _unchangeable(name, network))
    return Overrides(dict.fromkeys(kept, FloatOverride(bits)))


def float_outcome(
    targets: Iterable[str], bits: FloatBits, floats: Mapping[str, FloatTensor], network: Network
) -> tuple[Outcome, str]:
    """Return the outcome of a key that requests floats of `bits` bits, and the reason for it."""
    refused, layers = [], []
    for target in targets:
        if reason := _unchangeable(target, network):
            refused.append(reason)
        elif floats[target].bits != bits:
            refused.append(f"'{target}' is float{floats[target].bits}, {floats[target].origin}")
        layers += [layer.name for layer in network.layers if target in _roles(layer)]
    if refused:
        return "ignored", "; ".join(dict.fromkeys(refused))
    words = (f"layer '{name}' is float{bits}" for name in dict.fromkeys(layers))
    return "applied", "; ".join(words)


def never_coded(target: str, network: Network) -> str:
    """Return why `target` can be neither quantised nor given a float width, or an empty string."""
    tensor = network.tensors.get(target)
    if tensor is not None and tensor.dtype != "float32":
        return f"it holds {tensor.dtype} numbers"
    if tensor is not None and tensor.varies:
        return "its size depends on values, so it stays float"
    for layer in network.layers:
        if target in layer.parameters and not _is_coded(target, layer):
            return f"layer '{layer.name}' ({layer.type}) keeps its parameters as they are"
    return stays_as_it_is(target, network)


def _unchangeable(target: str, network: Network) -> str:
    kind = network.input_format(target).type
    if kind != "default":
        return f"input '{target}' is of type {kind}, which stays as it arrives"
    writer = network.producers.get(target)
    if isinstance(writer, Opaque):
        return f"layer '{writer.name}' ({writer.type}) computes in floats anyway"
    for layer in network.layers:
        if isinstance(layer, Recurrent) and target in layer.parameters:
            return f"layer '{layer.name}' ({layer.type}) computes with codes of its weights"
    return never_coded(target, network)


def _float_layers(requested: Mapping[str, FloatBits], network: Network) -> dict[str, FloatBits]:
    """Return the bits of the layers that become float, including those that share a weight."""
    bits, float_layers = dict(requested), dict[str, FloatBits]()
    changed = True
    while changed:
        changed = False
        for layer in network.layers:
            names = _roles(layer)
            name = next((name for name in names if name in bits), None)
            if name is None or layer.name in float_layers:
                continue
            float_layers[layer.name], changed = bits[name], True
            for other in names:
                bits.setdefault(other, bits[name])
    return float_layers


def _roles(layer: Layer) -> tuple[str, ...]:
    """Return the tensors whose override makes a layer float, in order of precedence."""
    weighted = isinstance(layer, Weighted)
    return (*layer.outputs, *layer.parameters) if weighted else layer.outputs


def _is_coded(parameter: str, layer: Layer) -> bool:
    if isinstance(layer, Recurrent):
        return parameter in (layer.weight, layer.recurrence)
    return isinstance(layer, Weighted)


@dataclass(frozen=True)
class Unranged:
    """A code of `bits` bits; `symmetric` and `per_channel` if the override requests this."""

    bits: int
    symmetric: bool = False
    per_channel: bool = False

    def for_activation(self, options: QuantizationOptions) -> QuantizationOptions:
        """Return the options with these bits for activations."""
        return replace(options, activation_bits=cast(Literal[8, 16], self.bits))

    def for_weight(self, options: QuantizationOptions) -> QuantizationOptions:
        """Return the options with these bits and signs for weights, adjusted only where allowed."""
        symmetric = self.symmetric or options.symmetric_weights
        axis = self.per_channel or options.axis_weights
        adjusted = options.adjusted_weights and self.bits == 8 and not symmetric and not axis
        return replace(
            options,
            weight_bits=cast(Literal[4, 8, 16], self.bits),
            pack_4_bit_weights=False,  # packing does not change the codes
            symmetric_weights=symmetric,
            axis_weights=axis,
            adjusted_weights=adjusted,
        )

    def stored(self, encoding: Encoding) -> Encoding:
        """Return a calibrated encoding; if `symmetric`, around zero and stored unsigned."""
        if not self.symmetric or encoding.min >= 0:  # unsigned symmetric keeps all its codes
            return encoding
        half = 1 << (self.bits - 1)
        if encoding.offset == -half:
            return encoding
        around = Encoding.symmetric_of(max(-encoding.min, encoding.max), self.bits)
        return replace(around, symmetric=False)
