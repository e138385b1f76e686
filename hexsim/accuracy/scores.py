"""Scores: what a network says before it is turned into what an application wants.

A softmax turns equal differences of scores into equal ratios of probabilities, so noise on
probabilities tells little about noise in the network. Detections are chosen from boxes and scores,
and those of two runs are no pairs that could be compared. Runtimes are therefore compared with
float on what a final softmax, or layers sized by values, read. Where that is masked, it holds
numbers of which only the softmax says that they are alike.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace

from hexsim.graph.ir import Layer, Network
from hexsim.inputs.batches import batch_size
from hexsim.layers import Opaque, Softmax
from hexsim.passes.dead_code import remove_dead_code
from hexsim.quantization.masks.found import Masks
from hexsim.quantization.model import Model


def class_scores(network: Network) -> Network:
    """Return the network with what is compared in place of its outputs."""
    scores: dict[str, tuple[str, ...]] = {
        layer.output: (layer.inputs[0],)
        for layer in network.layers
        if isinstance(layer, Softmax)
        and layer.output in network.outputs
        and layer.output not in network.consumers
    }
    if scores:
        masked = Masks.of(network).holding
        scores = {name: read for name, read in scores.items() if not masked.intersection(read)}
    scores |= before_choices(network)
    if not scores:
        return network
    outputs = dict.fromkeys(n for name in network.outputs for n in scores.get(name, (name,)))
    cut = remove_dead_code(replace(network, outputs=tuple(outputs)))
    return cut if cut.layers else network


def is_classifier(network: Network) -> bool:
    """True if the first output can be read as the scores of classes, one winner per item.

    It holds floats of known size in a single row per item, of two or more: behind the batch, one
    axis at most is longer than 1. Where that row is behind a batch of one and no axis is left, the
    output is a number, and a picture, boxes or a sequence have several axes.
    """
    output = network.tensors[network.outputs[0]]
    if output.dtype != "float32" or output.varies:
        return False
    batch = batch_size(network)
    shape = output.shape[1:] if batch > 1 else output.shape
    return math.prod(shape) > 1 and sum(size > 1 for size in shape) == 1


def scores_per_item(network: Network) -> int:
    """How many numbers the first output has for each item."""
    return math.prod(network.tensors[network.outputs[0]].shape) // batch_size(network)


def before_choices(network: Network) -> dict[str, tuple[str, ...]]:
    """Outputs that layers sized by values write, with the floats that these choose from.

    Inputs of the network, which all runs have alike, count where there is nothing else.
    """
    found = {}
    for name in network.outputs:
        if name in network.producers and is_sized_by_values(network.producers[name]):
            floats = tuple(dict.fromkeys(_floats_before(name, network)))
            found[name] = tuple(n for n in floats if n not in network.inputs) or floats
    return found


def is_sized_by_values(layer: Layer) -> bool:
    """True if what a layer writes is as large as values decide, inside it at least."""
    return isinstance(layer, Opaque) and layer.sized_by_values


def _floats_before(name: str, network: Network) -> Iterator[str]:
    """Floats of known size that `name` follows from, and the inputs that it does."""
    writer, tensor = network.producers.get(name), network.tensors[name]
    if writer is None or (tensor.dtype == "float32" and not is_sized_by_values(writer)):
        yield name
        return
    for source in writer.inputs:
        if source in network.tensors:
            yield from _floats_before(source, network)


def scored(model: Model) -> Model:
    """The model with class scores as outputs."""
    return replace(model, network=class_scores(model.network))
