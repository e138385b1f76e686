"""Cross-layer equalization prepares a float network for one weight range per tensor.

It finds chains of convolutions, turns Relu6 inside them into Relu, moves scales between their
layers, and absorbs high biases (docs/concepts/equalisation.md). It needs no data. Source: Nagel et
al., "Data-free quantization through weight equalization and bias correction", arXiv:1906.04721,
sections 4.1 and 4.1.3; with three layers in a set it is AIMET's rule. The paper's s is 1/t. Only
layers inside a chain lose the bound of a Relu6 (inferred: the guide does not say where). The report
names pairs of layers whose second one pads, if there was something to absorb.
"""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from hexsim.graph.ir import Constant, Layer, Network
from hexsim.layers import NO_CLAMP, RELU, RELU6, Convolution, Neuron, Weighted
from hexsim.quantization.rules.weights import SPREAD
from hexsim.records import dataclass

__all__ = ["Equalization", "EqualizedChain", "equalize"]


@dataclass(frozen=True)
class Chain:
    """The layers of a chain in order, by name, and why the last of them has no successor."""

    layers: tuple[str, ...]
    end: str


def find_chains(network: Network) -> tuple[Chain, ...]:
    """Return all chains in network order; a convolution without partner is a chain of one."""
    successors: dict[str, Layer | str] = {
        layer.name: _successor(layer, network)
        for layer in network.layers
        if isinstance(layer, Convolution)
    }
    led_to = {after.name for after in successors.values() if isinstance(after, Layer)}
    return tuple(_chain(name, successors) for name in successors if name not in led_to)


def sets(chain: Chain, network: Network) -> tuple[tuple[Convolution, ...], ...]:
    """Cut a chain where channels mix: runs whose inner layers are depthwise.

    Within a run the channels of all inner tensors are the same, so that one scale per channel and
    tensor can be moved; the last layer of a run is the first of the next.
    """
    members = convolutions(chain.layers, network)
    mixing = [i for i, layer in enumerate(members) if not _keeps_channels(layer, network)]
    cuts = sorted({0, *mixing, len(members) - 1})
    return tuple(tuple(members[first : last + 1]) for first, last in pairwise(cuts))


def convolutions(names: Sequence[str], network: Network) -> list[Convolution]:
    """Return the convolutions called `names`."""
    by_name = {layer.name: layer for layer in network.layers if isinstance(layer, Convolution)}
    return [by_name[name] for name in names]


def _chain(first: str, successors: dict[str, Layer | str]) -> Chain:
    names, after = [first], successors[first]
    while isinstance(after, Layer):
        names.append(after.name)
        after = successors[after.name]
    return Chain(tuple(names), after)


def _successor(layer: Convolution, network: Network) -> Layer | str:
    """Return the convolution to which scales of `layer` can move, or why there is none."""
    output, readers = layer.output, network.consumers.get(layer.output, ())
    if output in network.outputs:
        return f"its output '{output}' is an output of the network"
    if len(readers) != 1:
        return f"{len(readers)} layers read its output '{output}'"
    (reader,) = readers
    if isinstance(reader, Neuron):
        return f"the activation behind it, {reader.function} '{reader.name}', is no Relu"
    if not isinstance(reader, Convolution):
        return f"its output is read by {reader.type} '{reader.name}', which is no convolution"
    if layer.clamp not in (NO_CLAMP, RELU, RELU6):
        return (
            f"its activation limits values to {layer.clamp.low:g} .. {layer.clamp.high:g} and is "
            "neither Relu nor Relu6"
        )
    return reader


def _keeps_channels(layer: Convolution, network: Network) -> bool:
    channels = network.shape(layer.inputs[0])[-1]
    return layer.is_depthwise(channels) and layer.output_channels == channels


def bounded(chains: Sequence[Chain], network: Network) -> tuple[str, ...]:
    """Return the names of the layers that end in a Relu6 and pass scales on."""
    inner = [name for chain in chains for name in chain.layers[:-1]]
    return tuple(layer.name for layer in convolutions(inner, network) if layer.clamp == RELU6)


def without_relu6(network: Network, names: Collection[str]) -> Network:
    """Return the network with a Relu at the end of the layers `names`."""
    return network.with_layers(
        layer.replace(clamp=RELU)
        if isinstance(layer, Convolution) and layer.name in names
        else layer
        for layer in network.layers
    )


Factors = dict[str, npt.NDArray[np.float64]]
"""Tensor name -> factor of each of its channels."""

SETTLED = 1e-4
"""Relative change of all factors in a round below which the iteration stops.

Our choice: a thousandth of an 8-bit code."""

ROUNDS = 500
"""Most rounds; the networks here need 2 to 233, long chains most."""


def equalizing_factors(network: Network, sets: Sequence[Sequence[Convolution]]) -> Factors:
    """Return the factors of the tensors inside `sets` that make reaches equal."""
    factors: Factors = {
        layer.output: np.ones(layer.output_channels) for run in sets for layer in run[:-1]
    }
    reaches = {layer.name: _reach(layer, network) for run in sets for layer in run}
    alive = [_alive(run, reaches) for run in sets]
    for _ in range(ROUNDS):
        change = 0.0
        for run, living in zip(sets, alive, strict=True):
            seen = np.stack(_channel_reaches(run, reaches, factors))
            logs = np.log(np.where(living, seen, 1.0))
            steps = np.cumsum(logs.mean(axis=0) - logs, axis=0)[:-1]
            for layer, step in zip(run, steps, strict=False):
                factors[layer.output] = factors[layer.output] * np.exp(step)
            change = max(change, float(np.abs(steps).max()))
        if change < SETTLED:
            break
    return factors


def rescaled(network: Network, factors: Factors) -> Network:
    """Return the network, whose layers own their parameters, with its tensors multiplied."""
    changed: list[Constant] = []
    for layer in network.layers:
        if not isinstance(layer, Convolution):
            continue
        before, gain = factors.get(layer.inputs[0]), factors.get(layer.output)
        weight = network.constants[layer.weight]
        if before is not None:
            per_group = layer.output_channels // layer.groups
            weight = _times(
                weight, np.repeat((1 / before).reshape(layer.groups, -1), per_group, axis=0).T
            )
        if gain is not None:
            weight = _times(weight, gain)
            other = (network.constants[n] for n in (layer.bias, layer.moments) if n is not None)
            changed += [_times(constant, gain) for constant in other]
        changed.append(weight)
    return network.with_layers(network.layers, constants=changed)


def _times(constant: Constant, factor: npt.NDArray[np.float64]) -> Constant:
    """Return the constant times `factor`, computed in float64 when its values are needed."""

    def product(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
        return array * factor

    return constant.derive(constant.shape, product)


def _reach(layer: Convolution, network: Network) -> npt.NDArray[np.float64]:
    """Return the largest magnitude over the taps: (groups, inputs, outputs of a group)."""
    weight = network.constants[layer.weight].finite()
    reach: npt.NDArray[np.float64] = np.abs(weight).max(axis=(0, 1)).astype(np.float64)
    return reach.reshape(len(reach), layer.groups, -1).transpose(1, 0, 2)


def _channel_reaches(
    run: Sequence[Convolution],
    reaches: Mapping[str, npt.NDArray[np.float64]],
    factors: Mapping[str, npt.NDArray[np.float64]],
) -> list[npt.NDArray[np.float64]]:
    """Return the reach of each channel in each layer: of outputs, or of inputs in the last."""
    channel_reaches = []
    for layer in run:
        reach = reaches[layer.name]
        groups = len(reach)
        if layer.inputs[0] in factors:
            reach = reach / factors[layer.inputs[0]].reshape(groups, -1, 1)
        if layer.output in factors:
            reach = reach * factors[layer.output].reshape(groups, 1, -1)
        channel_reaches.append(reach.max(axis=2 if layer is run[-1] else 1).ravel())
    return channel_reaches


def _alive(
    run: Sequence[Convolution], reaches: Mapping[str, npt.NDArray[np.float64]]
) -> npt.NDArray[np.bool_]:
    """Return which channels of a set have weights in all of its layers."""
    seen = _channel_reaches(run, reaches, {})
    alive: npt.NDArray[np.bool_] = np.all([r > r.max() / SPREAD for r in seen], axis=0)
    return alive


DEVIATIONS = 3.0
"""Standard deviations that a mean must be above zero to be absorbed (the paper's)."""


@dataclass(frozen=True)
class Absorption:
    """How many channels of `giver` were absorbed by `taker`; `largest` amount in real units."""

    giver: str
    taker: str
    channels: int
    largest: float


@dataclass(frozen=True)
class Absorbed:
    """The changed network, its absorptions, and the layers whose moments are unknown.

    `padded` are pairs of layers with high biases that stay, because the second one pads.
    """

    network: Network
    absorptions: tuple[Absorption, ...]
    unknown: tuple[str, ...]
    padded: tuple[tuple[str, str], ...]


def absorb_high_biases(network: Network, chains: Sequence[Chain]) -> Absorbed:
    """Absorb along `chains`; the layers of `network` own their parameters."""
    done, unknown, padded = [], [], []
    for chain in chains:
        members = convolutions(chain.layers, network)
        for giver, taker in pairwise(members):
            if giver.clamp != RELU:
                continue
            pads = any(taker.window.pads)
            if giver.moments is None:
                unknown.append(giver.name)
                continue
            mean, deviation = network.constants[giver.moments].finite().astype(np.float64)
            surplus: npt.NDArray[np.float64] = np.maximum(0.0, mean - DEVIATIONS * deviation)
            if surplus.any() and pads:
                padded.append((giver.name, taker.name))
            elif surplus.any():
                network = _moved(network, giver, taker, surplus)
                count, largest = np.count_nonzero(surplus), float(surplus.max())
                done.append(Absorption(giver.name, taker.name, int(count), largest))
    return Absorbed(network, tuple(done), tuple(unknown), tuple(padded))


def _moved(
    network: Network, giver: Convolution, taker: Convolution, surplus: npt.NDArray[np.float64]
) -> Network:
    assert giver.bias is not None
    assert taker.bias is not None
    assert giver.moments is not None
    constants = network.constants
    taps = constants[taker.weight].finite().astype(np.float64).sum(axis=(0, 1))
    per_group = taker.output_channels // taker.groups
    added = np.repeat(surplus.reshape(taker.groups, -1), per_group, axis=0).T
    answer = (taps * added).sum(axis=0)
    bias, moments, next_bias = (constants[n] for n in (giver.bias, giver.moments, taker.bias))
    less = np.stack([surplus, np.zeros_like(surplus)])
    changed = (_plus(bias, -surplus), _plus(moments, -less), _plus(next_bias, answer))
    return network.with_layers(network.layers, constants=changed)


def _plus(constant: Constant, addend: npt.NDArray[np.float64]) -> Constant:
    def sum_of_both(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
        return array + addend

    return constant.derive(constant.shape, sum_of_both)


def with_own_parameters(network: Network) -> Network:
    """Return the network with parameters that belong to one layer only, for layers with weights.

    1. A constant that several layers use is copied for each layer, as `<layer>.<constant>`.
    2. A layer without bias gets a bias of zeros, `<layer>.bias`.
    """
    uses = Counter(
        name
        for layer in network.layers
        for name in (*layer.inputs, *layer.parameters, *layer.statistics)
    )
    layers, constants = [], []
    for layer in network.layers:
        if isinstance(layer, Weighted):
            changes = {}
            for field in ("weight", "bias", "moments"):
                name = getattr(layer, field, None)
                if name is not None and uses[name] > 1:
                    constant = network.constants[name]
                    changes[field] = f"{layer.name}.{name}"
                    constants.append(constant.derive(constant.shape, np.copy, changes[field]))
            if layer.bias is None:
                changes["bias"] = f"{layer.name}.bias"
                zeros = np.zeros(layer.output_channels, np.float32)
                constants.append(Constant(changes["bias"], zeros.shape, zeros))
            layer = layer.replace(**changes)
        layers.append(layer)
    return network.with_layers(layers, constants=constants)


@dataclass(frozen=True)
class EqualizedChain:
    """A chain, and the smallest and largest factor by which a channel inside it was multiplied."""

    chain: Chain
    smallest: float
    largest: float


@dataclass(frozen=True)
class Equalization:
    """The equalised network and what was done to it.

    `skipped` are the convolutions without partner. `rescaled` names the tensors and constants
    whose values changed, so that encodings made for them no longer hold.
    `without_relu6` names the layers that lost their bound, `without_moments` those whose high
    biases could not be absorbed, since no batch norm is known, `padded` those whose high biases
    stay because the next layer, named too, pads its input.
    """

    network: Network
    chains: tuple[EqualizedChain, ...]
    skipped: tuple[Chain, ...]
    without_relu6: tuple[str, ...]
    absorptions: tuple[Absorption, ...]
    without_moments: tuple[str, ...]
    padded: tuple[tuple[str, str], ...]
    rescaled: frozenset[str]


def equalize(network: Network) -> Equalization:
    """Equalise a float network as it was converted (batch norms folded, clamps fused).

    Raises HexsimError if a weight holds NaN or infinity.
    """
    all_chains = find_chains(network)
    chains = tuple(chain for chain in all_chains if len(chain.layers) > 1)
    relu6 = bounded(chains, network)
    owned = with_own_parameters(without_relu6(network, relu6))
    factors = equalizing_factors(owned, [s for chain in chains for s in sets(chain, owned)])
    absorbed = absorb_high_biases(rescaled(owned, factors), chains)
    outputs = {layer.name: layer.output for layer in network.layers if len(layer.outputs) == 1}
    equalized = []
    for chain in chains:
        inside = np.concatenate([factors[outputs[name]] for name in chain.layers[:-1]])
        equalized.append(EqualizedChain(chain, float(inside.min()), float(inside.max())))
    return Equalization(
        absorbed.network,
        tuple(equalized),
        tuple(chain for chain in all_chains if len(chain.layers) == 1),
        relu6,
        absorbed.absorptions,
        absorbed.unknown,
        absorbed.padded,
        _rescaled(chains, absorbed.network),
    )


def _rescaled(chains: tuple[Chain, ...], network: Network) -> frozenset[str]:
    members = {name for chain in chains for name in chain.layers}
    inner = {name for chain in chains for name in chain.layers[:-1]}
    return frozenset(
        name
        for layer in network.layers
        if layer.name in members
        for name in (*layer.parameters, *(layer.outputs if layer.name in inner else ()))
    )
