"""What became of names: renamed, absorbed, or gone."""

from collections.abc import Callable

import numpy as np
import onnx
import pytest
from onnx import helper

from hexsim.graph.ir import FloatArray, Network
from hexsim.layers import NO_CLAMP, Neuron
from hexsim.onnx_io.float_engine import FloatEngine
from hexsim.onnx_io.read.reader import read, read_with_codes
from hexsim.passes import optimize_reported
from hexsim.passes.provenance import Provenance, provenance
from tests.coded_networks import coded_network
from tests.thorough import THOROUGH


def of(model: onnx.ModelProto) -> Provenance:
    return provenance(optimize_reported(read(model))[0])


def node(op: str, inputs: str, output: str, **attributes: object) -> onnx.NodeProto:
    return helper.make_node(op, inputs.split(), [output], f"n_{output}", **attributes)


WEIGHTS = {
    "w": np.ones((4, 3, 1, 1)),
    "s": np.ones(4),
    "t": np.zeros(4),
    "m": np.zeros(4),
    "v": np.ones(4),
    "d": np.ones((36, 2)),
}


def test_chain_that_one_layer_takes_over(onnx_model: Callable[..., onnx.ModelProto]) -> None:
    nodes = [
        node("Conv", "x w", "c"),
        node("BatchNormalization", "c s t m v", "n"),
        node("Relu", "n", "r"),
        node("Identity", "r", "y"),
    ]
    provenance = of(onnx_model(nodes, {"x": (1, 3, 4, 4)}, ["y"], WEIGHTS))
    assert provenance.renamed == {"r": "y"}
    assert provenance.absorbed.items() >= {"c": "n_c", "n": "n_c"}.items()
    batch_norm = set(provenance.absorbed) - {"c", "n"}
    assert batch_norm
    assert "w" not in provenance.absorbed, "a folded weight keeps the initialiser's name"
    assert {provenance.absorbed[name] for name in batch_norm} == {"n_c"}


def test_no_ops_hold_what_their_input_holds(onnx_model: Callable[..., onnx.ModelProto]) -> None:
    nodes = [
        node("Sigmoid", "x", "a"),
        node("Identity", "a", "b"),
        node("Dropout", "b", "c"),
        node("Tanh", "c", "y"),
    ]
    provenance = of(onnx_model(nodes, {"x": (1, 3)}, ["y"]))
    assert provenance == Provenance({"b": "a", "c": "a"}, {})


def test_flattened_inputs_and_dead_code(onnx_model: Callable[..., onnx.ModelProto]) -> None:
    nodes = [
        node("MaxPool", "x", "p", kernel_shape=[2, 2]),
        node("Flatten", "p", "f"),
        node("MatMul", "f d", "y"),
        node("Sigmoid", "p", "dead"),
    ]
    provenance = of(onnx_model(nodes, {"x": (1, 4, 4, 4)}, ["y"], WEIGHTS))
    assert provenance.renamed["f"] == "p"
    assert provenance.absorbed == {"dead": ""}


def test_nothing_is_reported_of_an_unchanged_network(
    onnx_model: Callable[..., onnx.ModelProto],
) -> None:
    assert of(onnx_model([node("Tanh", "x", "y")], {"x": (1, 3)}, ["y"])) == Provenance({}, {})


def test_both_sides_of_a_shape_that_the_import_adds(
    onnx_model: Callable[..., onnx.ModelProto],
) -> None:
    """A 1-D convolution is a 2-D one between reshapes; the second is hoisted or removed."""
    weights = {"a": np.ones((4, 3, 1)), "b": np.ones((2, 4, 1))}
    nodes = [node("Conv", "x a", "c"), node("Relu", "c", "r"), node("Conv", "r b", "y")]
    imported = read_with_codes(onnx_model(nodes, {"x": (1, 3, 8)}, ["y"], weights))
    stages, _ = optimize_reported(imported.network)
    traced = provenance(stages, imported.named, imported.rearranged)
    written = [layer.output for layer in stages[-1].layers if layer.type == "convolutional"]
    assert [traced.renamed.get(name, name) for name in ("r", "y")] == written
    assert traced.absorbed["c"] == "n_c"


def sorted_values(network: Network, feed: dict[str, FloatArray]) -> dict[str, FloatArray]:
    """The values of each tensor, in an order that no move changes."""
    stored = {name: network.tensors[name].from_source(array) for name, array in feed.items()}
    written = [name for name in network.tensors if name not in network.inputs]
    values = {**stored, **FloatEngine(network, outputs=written).run(stored)}
    return {name: np.sort(array.reshape(-1)) for name, array in values.items()}


def alike(first: FloatArray, second: FloatArray) -> bool:
    largest = np.abs(first).max(initial=1e-20)
    return first.shape == second.shape and bool(np.allclose(first, second, 1e-3, 1e-4 * largest))


@pytest.mark.parametrize("seed", range(60 if THOROUGH else 10))
@pytest.mark.parametrize("form", ["float", "coded"])
def test_names_stand_for_the_same_values(seed: int, form: str) -> None:
    """A name that is left or renamed has its old values, and one that is absorbed nobody has.

    But a clamp that absorbs a tensor may happen to change nothing.
    """
    net = coded_network(seed)
    imported = read_with_codes(net.model if form == "float" else net.qdq())
    stages, _ = optimize_reported(imported.network)
    traced = provenance(stages, imported.named, imported.rearranged)
    feed = dict(net.inputs[0])
    before, after = sorted_values(stages[0], feed), sorted_values(stages[-1], feed)
    clamps = (layer for layer in stages[0].layers if isinstance(layer, Neuron))
    clamped = [before[layer.inputs[0]] for layer in clamps if layer.clamp != NO_CLAMP]
    for name, values in before.items():
        if name in traced.absorbed:
            same = [other for other in after if alike(values, after[other])]
            excused = values.size < 4 or any(alike(values, other) for other in clamped)
            assert not same or excused, f"'{name}' is absorbed, and {same} have its values"
        else:
            now = traced.renamed.get(name, name)
            assert alike(values, after[now]), f"'{now}' has not the values of '{name}'"
    for name in traced.inside:
        same = [n for n in imported.named & before.keys() if alike(after[name], before[n])]
        assert not same or after[name].size < 4, f"'{name}' is no inner tensor, but {same}"
