"""What became of names: renamed, absorbed, or gone."""

from collections.abc import Callable

import numpy as np
import onnx
from onnx import helper

from hexsim.onnx_io.read.reader import read
from hexsim.passes import optimize
from hexsim.passes.provenance import Provenance, provenance


def of(model: onnx.ModelProto) -> Provenance:
    before = read(model)
    return provenance(before, optimize(before))


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
