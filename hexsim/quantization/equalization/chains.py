"""Finds chains of convolutions between which scales can be moved, and why each chain ends.

1. A chain is a sequence of convolutions; only the next one reads the output of each but the last.
2. Between them may be a Relu, or a Relu6, which is then replaced
   (hexsim.quantization.equalization.relu6). Any other activation ends the chain before it.
3. Convolutions may be dense, grouped or depthwise; batch norms are folded into them before.

So Conv-BN-[act]-Conv-BN-[act] and Conv-BN-[act]-DWConv-BN-[act]-Conv-BN-[act], the patterns that
the SNPE guide names, are chains of two and of three, and longer ones are runs of these.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from hexsim.graph.ir import Layer, Network
from hexsim.layers import NO_CLAMP, RELU, RELU6, Convolution, Neuron


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
