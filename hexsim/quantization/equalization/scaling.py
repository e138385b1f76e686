"""Cross-layer scaling gives the weights of each channel the same largest magnitude ("reach").

Nagel et al., "Data-free quantization through weight equalization and bias correction",
arXiv:1906.04721, section 4.1. If a tensor between two layers is multiplied, channel by channel, by
a factor t, by scaling the outputs of the first and dividing the inputs of the second, no function
changes that passes through a Relu. With r1 and r2 the largest magnitudes of the weights that write
and read a channel, t = sqrt(r2 / r1) makes both sqrt(r1 r2); the paper's s is 1/t.

Runs of depthwise layers share their channels, so all k layers of a set are brought to the
geometric mean of their reaches at once; of three that is AIMET's rule, of two the paper's. Sets
overlap in layers whose channels mix, so everything is repeated until it settles.

A channel that is dead in one layer, its reach below 1/4096 of the layer's, keeps its scale: the
factor that would raise it would raise its bias too, and spoil the tensor's range (our choice).
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from hexsim.graph.ir import Constant, Network
from hexsim.layers import Convolution
from hexsim.quantization.rules.axis import SPREAD

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
            weight = _times(weight, _by_weight(1 / before, layer))
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


def _by_weight(inputs: npt.NDArray[np.float64], layer: Convolution) -> npt.NDArray[np.float64]:
    """Expand numbers per input channel to (input channels / groups, output channels)."""
    per_group = layer.output_channels // layer.groups
    return np.repeat(inputs.reshape(layer.groups, -1), per_group, axis=0).T


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
