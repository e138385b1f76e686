"""High-bias absorption moves the constant part of a channel into the next layer's bias.

Nagel et al., arXiv:1906.04721, section 4.1.3. The values of a channel before its Relu, with mean
beta and standard deviation |gamma| in training, hardly come below c = max(0, beta - 3 |gamma|).
So c is subtracted from its bias, and the next layer's response to c is added to the bias of that
layer. The activations need less range. Values below c, one in a thousand in a normal distribution,
do change.

A next layer that pads its input with zeros is left out, because c would be missing at the border;
the report names such pairs if there was something to absorb.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from hexsim.graph.ir import Constant, Network
from hexsim.layers import RELU, Convolution
from hexsim.quantization.equalization.chains import Chain, convolutions

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
                if not pads:
                    unknown.append(giver.name)
                continue
            surplus = _surplus(network.constants[giver.moments].finite())
            if surplus.any() and pads:
                padded.append((giver.name, taker.name))
            elif surplus.any():
                network = _moved(network, giver, taker, surplus)
                count, largest = np.count_nonzero(surplus), float(surplus.max())
                done.append(Absorption(giver.name, taker.name, int(count), largest))
    return Absorbed(network, tuple(done), tuple(unknown), tuple(padded))


def _surplus(moments: npt.NDArray[np.generic]) -> npt.NDArray[np.float64]:
    mean, deviation = moments.astype(np.float64)
    surplus: npt.NDArray[np.float64] = np.maximum(0.0, mean - DEVIATIONS * deviation)
    return surplus


def _moved(
    network: Network, giver: Convolution, taker: Convolution, surplus: npt.NDArray[np.float64]
) -> Network:
    assert giver.bias is not None
    assert taker.bias is not None
    assert giver.moments is not None
    constants = network.constants
    taps = constants[taker.weight].finite().astype(np.float64).sum(axis=(0, 1))
    per_group = taker.output_channels // taker.groups
    given = np.repeat(surplus.reshape(taker.groups, -1), per_group, axis=0).T
    answer = (taps * given).sum(axis=0)
    bias, moments, next_bias = (constants[n] for n in (giver.bias, giver.moments, taker.bias))
    less = np.stack([surplus, np.zeros_like(surplus)])
    changed = (_plus(bias, -surplus), _plus(moments, -less), _plus(next_bias, answer))
    return network.with_layers(network.layers, constants=changed)


def _plus(constant: Constant, addend: npt.NDArray[np.float64]) -> Constant:
    def sum_of_both(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
        return array + addend

    return constant.derive(constant.shape, sum_of_both)
