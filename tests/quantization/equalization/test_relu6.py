"""Relu6 inside a chain becomes Relu; at its end it stays."""

from hexsim.layers import RELU, RELU6, Convolution
from hexsim.quantization.equalization.chains import find_chains
from hexsim.quantization.equalization.relu6 import bounded, without_relu6
from tests.quantization.equalization.made import Made


def test_only_inner_layers_lose_their_bound() -> None:
    made = Made().conv("a", 8, clamp=RELU6).conv("b", 8).conv("c", 8, clamp=RELU6)
    network = made.conv("d", 8, clamp=RELU6).network()
    names = bounded(find_chains(network), network)
    assert names == ("a", "c")
    clamps = {
        layer.name: layer.clamp
        for layer in without_relu6(network, names).layers
        if isinstance(layer, Convolution)
    }
    assert clamps == {"a": RELU, "b": RELU, "c": RELU, "d": RELU6}


def test_a_layer_outside_any_chain_keeps_its_bound() -> None:
    network = Made().conv("a", 8, clamp=RELU6).pool().conv("b", 8).network()
    assert bounded(find_chains(network), network) == ()
