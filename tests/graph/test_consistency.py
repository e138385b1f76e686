"""A network that does not hold together is refused, with the layer or tensor that is to blame."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace

import pytest

from hexsim.graph.consistency import check, require_layer
from hexsim.graph.ir import Constant, Network, Tensor
from hexsim.graph.network_ends import InputFormat
from hexsim.layers import ChannelShuffle, FullyConnected, MatMul, Neuron, Recurrent
from tests.dlc.made import small_network
from tests.entry_points.examples import Example, examples

Change = Callable[[Network], Network]


def _layer(**changes: object) -> Change:
    """The first layer with other fields."""

    def change(network: Network) -> Network:
        first, *others = network.layers
        return replace(network, layers=(first.replace(**changes), *others))

    return change


def _tensor(name: str, **changes: object) -> Change:
    def change(network: Network) -> Network:
        tensor = replace(network.tensors[name], **changes)
        return replace(network, tensors={**network.tensors, name: tensor})

    return change


def _weight(shape: tuple[int, ...]) -> Change:
    def change(network: Network) -> Network:
        weight = Constant("weight0", shape, lambda: None)  # type: ignore[arg-type,return-value]
        return replace(network, constants={**network.constants, "weight0": weight})

    return change


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (
            _layer(inputs=("nobody",)),
            "'convolution0' (Convolution): input 'nobody' is unknown",
        ),
        (
            _layer(inputs=("convolution1_out",)),
            "input 'convolution1_out' is written by nothing before it",
        ),
        (_layer(bias="weight0"), "'weight0' has the shape [3, 3, 3, 4]; expected [4]"),
        (_layer(inputs=("in", "in")), "it has 2 inputs and needs 1"),
        (_layer(inputs=()), "it has 0 inputs and needs 1"),
        (_layer(outputs=("in",)), "output 'in' is an input or another layer's output"),
        (_layer(outputs=("nobody",)), "output 'nobody' is no tensor of the network"),
        (_layer(name="convolution1"), "layer 'convolution1' (Convolution): another layer has that"),
        (_layer(weight="nobody"), "constant 'nobody' is unknown"),
        (_layer(groups=2), "2 groups do not divide 3 input channels and 4 output channels"),
        (_layer(output_channels=5), "is said to have the shape [1, 8, 8, 4], and its inputs make"),
        (
            _weight((3, 3, 4, 3)),
            "has the shape [3, 3, 4, 3]; expected [3, 3, 3, 4]",
        ),
        (_tensor("in", shape=(1, 8, 3), order=(0, 1, 2)), "its input has 3 axes and needs 4"),
        (_tensor("in", shape=(2**20, 2**20, 1, 3)), "tensor 'in': shape"),
        (_tensor("in", dtype="decimal"), "elements of the unknown type 'decimal'"),
        (_tensor("in", dtype="y" * 5000), "elements of the unknown type '" + "y" * 37 + "...'"),
        (lambda net: replace(net, inputs=("in", "in")), "input 'in' is named twice"),
        (lambda net: replace(net, outputs=("weight0",)), "output 'weight0' is no tensor"),
        (
            lambda net: replace(net, tensors={**net.tensors, "weight0": Tensor("weight0", (1,))}),
            "'weight0' is a tensor and a constant",
        ),
        (
            lambda net: replace(
                net, tensors={**net.tensors, "z": Tensor("z", (1,))}, outputs=("z",)
            ),
            "tensor 'z' is written by no layer",
        ),
        (lambda net: replace(net, layers=net.layers[:1], outputs=()), "' is written by no layer"),
        (lambda net: replace(net, layers=(), outputs=net.inputs), "it has no layers"),
        (lambda net: replace(net, outputs=()), "it has no outputs"),
        (
            lambda net: replace(net, input_formats={"z": InputFormat()}),
            "an input format is given for 'z', which is no input",
        ),
    ],
)
def test_what_does_not_hold_is_named(change: Change, words: str) -> None:
    with pytest.raises(ValueError, match=re.escape(words)):
        check(change(small_network()))


IO = {"name": "n", "inputs": ("x",), "outputs": ("y",)}


@pytest.mark.parametrize(
    ("layer", "shapes", "words"),
    [
        (ChannelShuffle(**IO, groups=3), [(1, 8)], "3 groups do not divide 8 channels"),
        (FullyConnected(**IO, weight="w", output_channels=2), [()], "has 0 axes and needs 1"),
        (MatMul(**IO), [(2, 3), (4, 5)], "have no product"),
        (
            Recurrent(**IO, cell="gru", hidden=2, weight="w", recurrence="r", initial=("cell",)),
            [(1, 1, 1), (1, 1, 2)],
            "field 'initial' is ('cell',)",
        ),
        (Neuron(name="n", inputs=("x",), outputs=("y", "z"), function="tanh"), [(1,)], "2 outputs"),
    ],
)
def test_what_a_layer_cannot_take_is_reported(
    layer: Neuron, shapes: list[tuple[int, ...]], words: str
) -> None:
    with pytest.raises(ValueError, match=re.escape(words)):
        require_layer(layer, shapes)


@pytest.mark.parametrize("example", examples(), ids=str)
def test_shapes_of_parameters_are_stated_for_all_that_have_some(example: Example) -> None:
    """A layer whose constants may have any shape would hand them to a kernel as they are."""
    layer = example.network.layers[-1]
    names = {*layer.parameters, *layer.statistics}
    shapes = {name: (7, 1, 7) for name in names}
    if names:
        with pytest.raises(ValueError, match="constant"):
            layer.require_parameters(example.network.input_shapes(layer), shapes)
