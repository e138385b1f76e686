"""Class scores: what a classifier says before a final softmax.

A softmax turns equal differences of scores into equal ratios of probabilities, so noise on
probabilities tells little about noise in the network. Runtimes are therefore compared with float
on the scores.
"""

from __future__ import annotations

from dataclasses import replace

from hexsim.graph.ir import Network
from hexsim.layers import Softmax
from hexsim.quantization.model import Model


def class_scores(network: Network) -> Network:
    """Return the network with the input of each final softmax as output in its place."""
    scores = {
        layer.output: layer.inputs[0]
        for layer in network.layers
        if isinstance(layer, Softmax)
        and layer.output in network.outputs
        and layer.output not in network.consumers
    }
    kept = [layer for layer in network.layers if layer.outputs[0] not in scores]
    if not kept:
        return network
    outputs = dict.fromkeys(scores.get(name, name) for name in network.outputs)
    return network.subnetwork(kept, network.inputs, tuple(outputs))


def scored(model: Model) -> Model:
    """The model with class scores as outputs."""
    return replace(model, network=class_scores(model.network))
