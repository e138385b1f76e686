"""Scores: the tensors on which runtimes are compared, before a final softmax or a choice.

A softmax turns equal differences of scores into equal ratios of probabilities, so noise on
probabilities says little about noise in the network. Detections are chosen from boxes and scores,
and the detections of two runs do not correspond. Runtimes are therefore compared with float on the
inputs of a final softmax, and of layers sized by values. A masked input of a softmax is not used:
its large negative numbers differ, though they all become zero.
"""

import math
from collections.abc import Iterable, Iterator
from dataclasses import replace

from hexsim.graph.batches import batch_size
from hexsim.graph.ir import Layer, Network
from hexsim.layers import Elementwise, Neuron, Opaque, Softmax
from hexsim.passes.rearrangements import remove_dead_code
from hexsim.quantization.masks import Masks
from hexsim.quantization.model import Model


def class_scores(network: Network) -> Network:
    """Return the network with the tensors to compare as its outputs."""
    scores = scores_before(network)
    if not scores:
        return network
    outputs = dict.fromkeys(n for name in network.outputs for n in scores.get(name, (name,)))
    cut = remove_dead_code(replace(network, outputs=tuple(outputs)))
    return cut if cut.layers else network


def compared_floats(network: Network) -> tuple[str, ...]:
    """Return the tensors of the "SQNR of the outputs" in all reports.

    They are the floats among the outputs, before a final softmax or a choice. Each has a figure
    over all items of all inputs, and the worst one decides; the padding of a batch that is not full
    does not count.
    """
    outputs = class_scores(network).outputs
    return tuple(name for name in outputs if network.tensors[name].dtype == "float32")


def probabilities(network: Network, names: Iterable[str]) -> frozenset[str]:
    """Return the tensors among `names` whose values are probabilities.

    They are the results of sigmoids and softmaxes, moved, or multiplied with each other.
    """

    def is_one(name: str) -> bool:
        layer = network.producers.get(name)
        if layer is None:
            return False
        if isinstance(layer, Neuron | Softmax):
            return isinstance(layer, Softmax) or layer.function in ("sigmoid", "hard_sigmoid")
        moves = layer.moves_codes or (isinstance(layer, Elementwise) and layer.kind == "product")
        return moves and all(is_one(source) for source in layer.inputs)

    return frozenset(filter(is_one, names))


def scores_before(network: Network) -> dict[str, tuple[str, ...]]:
    """Return the outputs in whose place other tensors are compared, with those tensors."""
    scores: dict[str, tuple[str, ...]] = {
        layer.output: (layer.inputs[0],)
        for layer in network.layers
        if isinstance(layer, Softmax)
        and layer.output in network.outputs
        and layer.output not in network.consumers
    }
    if scores:
        masked = Masks.of(network).holding
        scores = {
            name: inputs for name, inputs in scores.items() if not masked.intersection(inputs)
        }
    return scores | before_choices(network)


def is_classifier(network: Network) -> bool:
    """Return True if the first output can be read as the scores of classes, one winner per item.

    It must hold floats of known size, for each item a single row of two or more: only one axis
    besides the batch is longer than 1. Images, boxes and sequences have several such axes.
    """
    output = network.tensors[network.outputs[0]]
    if output.dtype != "float32" or output.varies:
        return False
    batch = batch_size(network)
    shape = output.shape[1:] if batch > 1 else output.shape
    return math.prod(shape) > 1 and sum(size > 1 for size in shape) == 1


def scores_per_item(network: Network) -> int:
    """Return how many numbers the first output has for each item."""
    return math.prod(network.tensors[network.outputs[0]].shape) // batch_size(network)


def before_choices(network: Network) -> dict[str, tuple[str, ...]]:
    """Return outputs of layers sized by values, with the floats from which these choose.

    Inputs of the network, which are equal in all runs, count only if there are no other floats.
    """
    floats_of = {}
    for name in network.outputs:
        if name in network.producers and is_sized_by_values(network.producers[name]):
            floats = tuple(dict.fromkeys(_floats_before(name, network)))
            floats_of[name] = tuple(n for n in floats if n not in network.inputs) or floats
    return floats_of


def is_sized_by_values(layer: Layer) -> bool:
    """Return True if the size of a layer's outputs, or of tensors inside it, depends on values."""
    return isinstance(layer, Opaque) and layer.sized_by_values


def _floats_before(name: str, network: Network) -> Iterator[str]:
    """Yield the nearest floats of known size, or inputs, from which `name` is computed."""
    writer, tensor = network.producers.get(name), network.tensors[name]
    if writer is None or (tensor.dtype == "float32" and not is_sized_by_values(writer)):
        yield name
        return
    for source in writer.inputs:
        if source in network.tensors:
            yield from _floats_before(source, network)


def scored(model: Model) -> Model:
    """Return the model with class scores as outputs."""
    return replace(model, network=class_scores(model.network))
