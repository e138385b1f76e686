"""A final softmax is left off, any other stays."""

from dataclasses import replace

import pytest

from hexsim.accuracy.scores import (
    before_choices,
    class_scores,
    is_classifier,
    probabilities,
    scores_per_item,
)
from hexsim.dlc import loading
from hexsim.graph.ir import Network, Tensor
from hexsim.layers import Elementwise, Neuron, Reshape, Softmax
from tests.entry_points.examples import SIZED_BY_VALUES, examples


def test_a_classifier_ends_in_its_scores() -> None:
    network = loading.load("squeezenet1_1").network
    scores = class_scores(network)
    scores.check()
    assert len(scores.layers) == len(network.layers) - 1
    assert scores.outputs == network.producers[network.outputs[0]].inputs
    assert class_scores(scores) == scores


@pytest.mark.parametrize("outputs", [("y",), ("p", "y")])
def test_a_softmax_that_somebody_reads_stays(outputs: tuple[str, ...]) -> None:
    layers = (
        Softmax(name="s", inputs=("x",), outputs=("p",), axes=(1,)),
        Neuron(name="n", inputs=("p",), outputs=("y",), function="tanh"),
    )
    tensors = {name: Tensor(name, (1, 4)) for name in "xpy"}
    network = Network("inner", layers, tensors, {}, ("x",), outputs)
    assert class_scores(network) == network


def test_a_softmax_of_masked_numbers_stays() -> None:
    """What it reads differs where it makes no difference."""
    masked = [example.network for example in examples() if example.name.startswith("masked by")]
    assert len(masked) == 3
    assert all(class_scores(network) is network for network in masked)


def test_a_network_of_one_softmax_is_left_alone() -> None:
    layer = Softmax(name="s", inputs=("x",), outputs=("p",), axes=(1,))
    tensors = {name: Tensor(name, (1, 4)) for name in "xp"}
    network = Network("only", (layer,), tensors, {}, ("x",), ("p",))
    assert class_scores(network) == network


def test_detections_are_judged_by_what_they_are_chosen_from() -> None:
    (network,) = (e.network for e in examples() if e.name == SIZED_BY_VALUES)
    assert before_choices(network) == {"y": ("s",)}
    scores = class_scores(network)
    scores.check()
    assert scores.outputs == ("s",)
    assert [layer.name for layer in scores.layers] == ["first"]
    assert class_scores(scores) == scores


@pytest.mark.parametrize(
    ("taken", "given", "scores"),
    [
        ((1, 8, 8, 3), (1, 1000), True),
        ((1, 8, 8, 3), (1, 1, 1, 10), True),
        ((3, 8, 8, 3), (3, 10), True),
        ((1, 8, 8, 3), (1, 1), False),  # a number
        ((3, 8, 8, 3), (3, 1), False),  # a number for each of three
        ((1, 8, 8, 3), (1, 8, 8, 21), False),  # a picture of classes
        ((1, 8, 8, 3), (1, 1917, 4), False),  # boxes
        ((1, 100, 64), (1, 100, 2), False),  # a sequence
    ],
)
def test_a_classifier_has_one_row_of_scores_for_each_item(
    taken: tuple[int, ...], given: tuple[int, ...], scores: bool
) -> None:
    layer = Neuron(name="n", inputs=("x",), outputs=("y",), function="tanh")
    tensors = {"x": Tensor("x", taken), "y": Tensor("y", given)}
    network = Network("net", (layer,), tensors, {}, ("x",), ("y",))
    assert is_classifier(network) is scores
    whole = replace(tensors["y"], dtype="int32")
    assert not is_classifier(replace(network, tensors={**tensors, "y": whole}))


@pytest.mark.parametrize(
    ("taken", "given", "count"), [((1, 8), (1, 5), 5), ((3, 8), (3, 5), 5), ((8, 8), (1, 12), 12)]
)
def test_scores_are_counted_for_each_item(
    taken: tuple[int, ...], given: tuple[int, ...], count: int
) -> None:
    layer = Neuron(name="n", inputs=("x",), outputs=("y",), function="tanh")
    tensors = {"x": Tensor("x", taken), "y": Tensor("y", given)}
    assert scores_per_item(Network("net", (layer,), tensors, {}, ("x",), ("y",))) == count


def test_networks_of_each_kind() -> None:
    assert is_classifier(loading.load("googlenet").network)
    assert not is_classifier(loading.load("dronet_112").network)


def test_results_of_sigmoids_are_probabilities_also_moved_and_multiplied() -> None:
    names = {"x": ("score", "sigmoid"), "z": ("odd", "tanh")}
    layers = (
        *(
            Neuron(name=name, inputs=(source,), outputs=(name,), function=function)
            for source, (name, function) in names.items()
        ),
        Softmax(name="s", inputs=("x",), outputs=("classes",), axes=(1,)),
        Elementwise(name="p", inputs=("score", "classes"), outputs=("both",), kind="product"),
        Reshape(name="r", inputs=("both",), outputs=("moved",), shape=(4,)),
        Elementwise(name="q", inputs=("score", "odd"), outputs=("other",), kind="product"),
        Elementwise(name="t", inputs=("score", "classes"), outputs=("total",), kind="sum"),
    )
    written = [layer.output for layer in layers]
    shapes = dict.fromkeys((*"xz", *written), (1, 4)) | {"moved": (4,)}
    tensors = {name: Tensor(name, shape) for name, shape in shapes.items()}
    network = Network("scores", layers, tensors, {}, ("x", "z"), tuple(written))
    names = probabilities(network, (*written, "x"))
    assert names == {"score", "classes", "both", "moved"}
