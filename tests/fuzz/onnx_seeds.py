"""Small valid ONNX models that the mutations start from: one per layer type, and the odd forms.

Layers come from the examples of the entry points, as the writer writes them. By hand are what it
never writes: control flow, functions, quantised nodes, old opsets, constants that nodes compute.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from hexsim.layers import UserDefined
from hexsim.onnx_io.write.writer import write
from tests.entry_points.examples import examples


@cache
def seeds() -> tuple[bytes, ...]:
    """All of them, as the bytes of a file."""
    models = (*_layers(), *_by_hand())
    return tuple(model.SerializeToString(deterministic=True) for model in models)


def _layers() -> Iterator[onnx.ModelProto]:
    """The first two examples of every layer type."""
    seen: dict[str, int] = {}
    for example in examples():
        count = seen.get(example.of.__name__, 0)
        seen[example.of.__name__] = count + 1
        brought = example.of is UserDefined  # no ONNX file tells what such a layer does
        if count < 2 and not brought and not example.network.input_formats:
            yield _embedded(*_written(example.network))


def _written(network) -> tuple[onnx.ModelProto, dict[str, np.ndarray]]:
    graph = write(network)
    return graph.model, graph.weights


def _embedded(model: onnx.ModelProto, weights: dict[str, np.ndarray]) -> onnx.ModelProto:
    for tensor in model.graph.initializer:
        if tensor.name in weights:
            tensor.CopyFrom(numpy_helper.from_array(weights[tensor.name], tensor.name))
    return model


def _by_hand() -> Iterator[onnx.ModelProto]:
    node = helper.make_node
    ints = {"to": np.array([2, 3], np.int64), "flat": np.array([6], np.int64)}
    yield model([node("Expand", ["one", "to"], ["k"]), node("Add", ["x", "k"], ["y"])],
                {**ints, "one": np.ones(1, np.float32)})  # fmt: skip
    yield model([
        node("ConstantOfShape", ["to"], ["zeros"]), node("Shape", ["x"], ["s"]),
        node("Concat", ["s", "flat"], ["c"], axis=0), node("ReduceSum", ["c"], ["n"], keepdims=0),
        node("Cast", ["n"], ["f"], to=TensorProto.FLOAT),
        node("Mul", ["x", "f"], ["m"]), node("Sub", ["m", "zeros"], ["y"]),
    ], ints)  # fmt: skip
    branches = {
        "then_branch": _branch("a", node("Relu", ["x"], ["a"])),
        "else_branch": _branch("b", node("Neg", ["x"], ["b"])),
    }
    yield model([node("If", ["c"], ["y"], **branches)], {"c": np.array(True)})
    summed = node("ReduceSum", ["x"], ["s"], keepdims=0)
    compared = node("Greater", ["s", "zero"], ["c"])
    yield model([summed, compared, node("If", ["c"], ["y"], **branches)],
                {"zero": np.array(0, np.float32)})  # fmt: skip
    yield _loop()
    codes = {"s": np.array(0.1, np.float32), "z": np.array(3, np.uint8)}
    yield model([
        node("QuantizeLinear", ["x", "s", "z"], ["q"]),
        node("DequantizeLinear", ["q", "s", "z"], ["d"]), node("Sigmoid", ["d"], ["y"]),
    ], codes)  # fmt: skip
    yield _with_function()
    old = model([node("Add", ["x", "b"], ["y"], broadcast=1, axis=1)],
                {"b": np.ones(3, np.float32)}, opset=6)  # fmt: skip
    old.ir_version = 3
    old.graph.input.append(helper.make_tensor_value_info("b", TensorProto.FLOAT, [3]))
    yield old
    yield model([node("Erf", ["x"], ["e"]), node("TopK", ["e", "k"], ["y", "i"], axis=1)],
                {"k": np.array([3], np.int64)})  # fmt: skip
    halves = model([node("Add", ["x", "b"], ["y"])], {"b": np.ones(3, np.float16)})
    for value in (*halves.graph.input, *halves.graph.output):
        value.type.tensor_type.elem_type = TensorProto.FLOAT16
    yield halves


def model(
    nodes: Sequence[onnx.NodeProto], weights: dict[str, np.ndarray], opset: int = 17
) -> onnx.ModelProto:
    """A model from x to y, both of 2 x 3 floats."""
    graph = helper.make_graph(
        nodes,
        "seed",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [2, 3])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [2, 3])],
        [numpy_helper.from_array(array, name) for name, array in weights.items()],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)


def _branch(output: str, *nodes: onnx.NodeProto) -> onnx.GraphProto:
    value = helper.make_tensor_value_info(output, TensorProto.FLOAT, [2, 3])
    return helper.make_graph(nodes, output, [], [value])


def _loop() -> onnx.ModelProto:
    body = helper.make_graph(
        [
            helper.make_node("Identity", ["go"], ["on"]),
            helper.make_node("Add", ["state", "x"], ["next"]),
        ],
        "body",
        [
            helper.make_tensor_value_info("i", TensorProto.INT64, []),
            helper.make_tensor_value_info("go", TensorProto.BOOL, []),
            helper.make_tensor_value_info("state", TensorProto.FLOAT, [2, 3]),
        ],
        [
            helper.make_tensor_value_info("on", TensorProto.BOOL, []),
            helper.make_tensor_value_info("next", TensorProto.FLOAT, [2, 3]),
        ],
    )
    weights = {"trips": np.array(4, np.int64), "true": np.array(True)}
    return model([helper.make_node("Loop", ["trips", "true", "x"], ["y"], body=body)], weights)


def _with_function() -> onnx.ModelProto:
    made = model([helper.make_node("Twice", ["x"], ["y"], domain="own")], {})
    imports = [helper.make_opsetid("", 17)]
    made.functions.append(
        helper.make_function(
            "own", "Twice", ["a"], ["b"], [helper.make_node("Add", ["a", "a"], ["b"])], imports
        )
    )
    made.opset_import.append(helper.make_opsetid("own", 1))
    return made
