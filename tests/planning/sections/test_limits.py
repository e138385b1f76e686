"""What a release and the encodings take away from the tensor engine."""

import pytest

from hexsim.datasheets import stacks
from hexsim.graph.ir import Constant
from hexsim.layers import Elementwise, Neuron
from hexsim.planning.sections.limits import hta_refusal
from hexsim.quantization.encodings import Encoding
from hexsim.quantization.model import Model
from tests.dlc.made import small_network, with_encodings
from tests.small_networks import Sketch

OLD = stacks.load("snpe-1.30").partitioning
NEW = stacks.load("qnn-2.45").partitioning


@pytest.mark.parametrize(("channels", "taken"), [(3, True), (16, True), (17, False)])
def test_input_channels(channels: int, taken: bool) -> None:
    net = Sketch((1, 4, 4, channels))
    first = net.conv("in", 64)
    model = Model(net.network(net.conv(first, 64)))
    conv, inner = model.network.layers
    assert (hta_refusal(conv, model, OLD) is None) is taken
    assert hta_refusal(conv, model, NEW) is None
    assert hta_refusal(inner, model, OLD) is None, "only inputs of the network are limited"


def test_a_scalar_has_one_channel() -> None:
    net = Sketch(())
    network = net.network(net.add(Neuron, "in", function="tanh"))
    assert hta_refusal(network.layers[0], Model(network), OLD) is None


def test_constant_operands_came_later() -> None:
    net = Sketch((1, 4, 4, 3))
    net.constants["k"] = Constant("k", (3,), lambda: pytest.fail("read"))
    model = Model(net.network(net.add(Elementwise, "in", "k", kind="sum")))
    (layer,) = model.network.layers
    assert "later releases" in (hta_refusal(layer, model, OLD) or "")
    assert hta_refusal(layer, model, NEW) is None


def test_weights_have_eight_bits_and_one_encoding() -> None:
    network = small_network()
    first = network.layers[0]
    assert hta_refusal(first, with_encodings(network), OLD) is None
    assert "per channel" in (hta_refusal(first, with_encodings(network, axis=True), OLD) or "")
    assert "not 4" in (hta_refusal(first, with_encodings(network, bits=4), OLD) or "")


def test_wide_activations_came_later() -> None:
    model = with_encodings(small_network())
    first = model.network.layers[0]
    model.activations[first.output] = Encoding.from_range(0, 1, 16)  # type: ignore[index]
    assert "16 bits" in (hta_refusal(first, model, OLD) or "")
    assert hta_refusal(first, model, NEW) is None
