"""Cross-layer equalization prepares a float network for one weight range per tensor.

It has four steps, each in a file: find chains, turn Relu6 inside them into Relu, move scales
between their layers, absorb high biases. It needs no data. The first and third step do not change
the function of the network; the others are counted in the report.
"""

from dataclasses import dataclass

import numpy as np

from hexsim.graph.ir import Network
from hexsim.quantization.equalization.absorption import Absorption, absorb_high_biases
from hexsim.quantization.equalization.chains import Chain, find_chains, sets
from hexsim.quantization.equalization.relu6 import bounded, without_relu6
from hexsim.quantization.equalization.scaling import equalizing_factors, rescaled
from hexsim.quantization.own_parameters import with_own_parameters

__all__ = ["Equalization", "EqualizedChain", "equalize"]


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
    """Return the inner tensors of the chains and all parameters of their layers."""
    members = {name for chain in chains for name in chain.layers}
    inner = {name for chain in chains for name in chain.layers[:-1]}
    return frozenset(
        name
        for layer in network.layers
        if layer.name in members
        for name in (*layer.parameters, *(layer.outputs if layer.name in inner else ()))
    )
