"""Only what an output depends on stays."""

from hexsim.graph.ir import Network, Tensor
from hexsim.layers import Neuron
from hexsim.passes.dead_code import remove_dead_code


def test_layers_that_nobody_reads_go() -> None:
    edges = {"a": ("x", "a"), "dead": ("a", "b"), "deader": ("b", "c"), "y": ("a", "y")}
    layers = tuple(
        Neuron(name=name, inputs=(source,), outputs=(target,), function="tanh")
        for name, (source, target) in edges.items()
    )
    tensors = {name: Tensor(name, (1, 2)) for name in ("x", "a", "b", "c", "y", "unread")}
    network = remove_dead_code(Network("n", layers, tensors, {}, ("x", "unread"), ("y",)))
    network.check()
    assert [layer.name for layer in network.layers] == ["a", "y"]
    assert set(network.tensors) == {"x", "unread", "a", "y"}
