"""Which convolutions form chains, and the sentence why the others do not."""

import pytest

from hexsim.layers import NO_CLAMP, RELU, RELU6, Clamp, Elementwise, Neuron
from hexsim.quantization.equalization.chains import find_chains, sets
from tests.quantization.equalization.made import Made


@pytest.mark.parametrize("clamp", [NO_CLAMP, RELU, RELU6])
def test_the_documented_patterns(clamp: Clamp) -> None:
    pair = Made().conv("a", 8, clamp=clamp).conv("b", 4, clamp=clamp).network()
    (chain,) = find_chains(pair)
    assert chain.layers == ("a", "b")
    assert chain.end == "its output 'b.y' is an output of the network"
    made = Made().conv("a", 8, clamp=clamp).conv("d", 8, groups=8, kernel=3, clamp=clamp)
    (chain,) = find_chains(made.conv("b", 4).network())
    assert chain.layers == ("a", "d", "b")


def test_a_long_chain_is_cut_where_channels_mix() -> None:
    made = Made().conv("a", 8).conv("d", 8, groups=8).conv("e", 8, groups=8).conv("b", 4)
    made.conv("twice", 8, groups=4).conv("c", 6, groups=2)
    network = made.network()
    (chain,) = find_chains(network)
    runs = [[layer.name for layer in run] for run in sets(chain, network)]
    assert runs == [["a", "d", "e", "b"], ["b", "twice"], ["twice", "c"]]


def test_a_chain_may_start_and_end_with_a_depthwise_layer() -> None:
    network = Made().conv("d", 4, groups=4).conv("a", 8).conv("e", 8, groups=8).network()
    (chain,) = find_chains(network)
    assert [len(run) for run in sets(chain, network)] == [2, 2]


def test_two_readers_end_a_chain() -> None:
    made = Made().conv("a", 8).conv("b", 8).conv("c", 8, "a.y")
    made.layer(Elementwise(name="add", inputs=("b.y", "c.y"), outputs=("s",), kind="sum"))
    chains = {chain.layers: chain.end for chain in find_chains(made.network())}
    read = "its output is read by elementwise_binary_op 'add', which is no convolution"
    assert chains == {("a",): "2 layers read its output 'a.y'", ("b",): read, ("c",): read}


def test_what_else_ends_a_chain() -> None:
    clipped = Made().conv("a", 8, clamp=Clamp(0.0, 1.0)).conv("b", 8).network()
    first, _ = find_chains(clipped)
    assert "limits values to 0 .. 1 and is neither Relu nor Relu6" in first.end
    made = Made().conv("a", 8, clamp=NO_CLAMP)
    made.layer(Neuron(name="act", inputs=("a.y",), outputs=("t",), function="tanh"))
    first, _ = find_chains(made.conv("b", 8).network())
    assert first.end == "the activation behind it, tanh 'act', is no Relu"
    first, _ = find_chains(Made().conv("a", 8).pool().conv("b", 8).network())
    assert first.end == "its output is read by pooling 'pool', which is no convolution"
    first, _ = find_chains(Made().conv("a", 8).conv("b", 8).network("a.y", "b.y"))
    assert first.end == "its output 'a.y' is an output of the network"
