"""Nodes at which onnx crashes are refused, and no other node is given to another process."""

import os
import random
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import helper, numpy_helper

from hexsim import isolation
from hexsim.errors import HexsimError
from hexsim.onnx_io.file import crash_proof as module
from hexsim.onnx_io.file.crash_proof import crash_proof, is_plain, is_plain_model
from hexsim.onnx_io.file.node import OnnxNode, check
from hexsim.onnx_io.read.reader import read

Make = Callable[..., onnx.ModelProto]
FLOAT = onnx.TensorProto.FLOAT
LABELS: dict[str, Any] = {
    "keys_strings": ["a"],
    "values_tensor": numpy_helper.from_array(np.zeros(1, np.int16)),
    "default_tensor": numpy_helper.from_array(np.zeros(1, np.int16)),
}


def of_unknown_operator(read_name: str = "x") -> list[onnx.NodeProto]:
    return [
        helper.make_node("Foo", [read_name], ["f"], domain="own"),
        helper.make_node("LabelEncoder", ["f"], ["y"], domain="ai.onnx.ml", **LABELS),
    ]


def model_of(nodes: list[onnx.NodeProto], opset: int, *sizes: int) -> onnx.ModelProto:
    graph = helper.make_graph(
        nodes,
        "g",
        [helper.make_tensor_value_info("x", FLOAT, sizes)],
        [helper.make_tensor_value_info("y", FLOAT, None)],
        [numpy_helper.from_array(np.zeros((4, 1, 3), np.int64), "i")],
    )
    domains = {"": opset, "ai.onnx.ml": 4, "own": 1}
    imports = [helper.make_opsetid(domain, version) for domain, version in domains.items()]
    return helper.make_model(graph, opset_imports=imports, ir_version=8)


INNER = helper.make_graph(
    of_unknown_operator("row"),
    "inner",
    [helper.make_tensor_value_info("row", FLOAT, [1])],
    [onnx.ValueInfoProto(name="y")],
)
CRASHES = {
    "axis": ([helper.make_node("LayerNormalization", "xx", ["n", "y"], axis=2**63 - 1)], 17),
    "old": (of_unknown_operator(), 5),
    "inner": ([helper.make_node("Scan", ["x"], ["y"], num_scan_inputs=1, body=INNER)], 13),
}
"""Nodes, with their opset, at which onnx 1.23 ends the process."""


@pytest.mark.parametrize("kind", CRASHES)
def test_a_file_at_which_onnx_crashes_is_refused(kind: str) -> None:
    with pytest.raises(HexsimError, match=r"do not fit together|cannot be (converted|inferred)"):
        read(model_of(*CRASHES[kind], 2, 1))


@pytest.mark.parametrize(
    "node",
    [
        helper.make_node("LayerNormalization", "xx", "y", axis=-1),
        helper.make_node("Slice", "x", "y", starts=[0], ends=[2**63 - 1]),
        helper.make_node("Pad", "x", "y", pads=[-1, 1]),
        helper.make_node("LabelEncoder", "x", "y", domain="ai.onnx.ml", default_int64=-(2**63)),
        helper.make_node("GatherND", "xi", "y", batch_dims=1),
    ],
    ids=lambda node: node.op_type,
)
def test_nodes_of_exporters_are_plain(node: onnx.NodeProto) -> None:
    assert is_plain(node)


def test_well_formed_files_start_no_process(
    monkeypatch: pytest.MonkeyPatch, onnx_model: Make
) -> None:
    monkeypatch.setattr(module, "_call", None)
    old = [helper.make_node("Add", ["x", "b"], ["y"], broadcast=1, axis=1)]
    model = onnx_model(old, {"x": (2, 3, 4)}, ["y"], {"b": np.ones(3, np.float32)}, opset=6)
    model.graph.input.append(helper.make_tensor_value_info("b", FLOAT, [3]))
    read(model)
    read(model_of([helper.make_node("GatherND", ["x", "i"], ["y"])], 13, 1, 1, 1))
    assert not is_plain_model(model_of(of_unknown_operator(), 13, 2))


def test_a_crash_elsewhere_is_an_error_and_the_next_call_works() -> None:
    calls: list[tuple[Callable[..., Any], tuple[Any, ...]]] = [
        (os.abort, ()),
        (bytearray, (8 << 30,)),
        (os._exit, (0,)),
        (int, ("no number",)),
    ]
    for function, arguments in calls:
        with pytest.raises(RuntimeError, match=f"{function.__name__} in another process"):
            crash_proof(function, plain=False)(*arguments)
        assert crash_proof(print, plain=False)("said in between") is None  # type: ignore[func-returns-value]
        assert crash_proof(sorted, plain=False)([3, 1, 2], reverse=True) == [3, 2, 1]


SCHEMAS = onnx.defs.get_all_schemas_with_history()


def random_node(rng: random.Random) -> tuple[onnx.defs.OpSchema, onnx.NodeProto]:
    """Return a node of any operator, with any values for its attributes."""
    schema = rng.choice(SCHEMAS)
    count = rng.randint(schema.min_input, min(schema.max_input, schema.min_input + 3))
    results = rng.randint(max(1, schema.min_output), min(schema.max_output, schema.min_output + 2))
    node = helper.make_node(
        schema.name,
        [f"x{place}" for place in range(count)],
        [f"y{place}" for place in range(max(1, results))],
        domain=schema.domain,
    )
    whole = [0, 1, 2, 3, 5, 16, 64, 1000, 2**31 - 1, 2**63 - 1, -1, -2, -3, -64, -(2**63)]
    for name, attribute in schema.attributes.items():
        kind = str(attribute.type).rpartition(".")[2]
        values: dict[str, Any] = {
            "INT": rng.choice(whole),
            "INTS": [rng.choice(whole) for _ in range(rng.randint(0, 5))],
            "FLOAT": rng.choice([0.0, -1.0, 1e38, np.nan]),
            "FLOATS": [rng.choice([0.0, 2.0, np.inf]) for _ in range(rng.randint(0, 5))],
            "STRING": rng.choice(["", "NOTSET", "ij,jk->ik", "...->", "forward", "linear"]),
            "STRINGS": ["a", "b"][: rng.randint(0, 2)],
            "TENSOR": numpy_helper.from_array(np.array(whole[: rng.randint(0, 9)], np.int64)),
        }
        if kind in values and (attribute.required or rng.random() < 0.5):
            value = helper.make_attribute(
                name, values[kind], attr_type=onnx.AttributeProto.AttributeType.Value(kind)
            )
            node.attribute.append(value)
    return schema, node


def infer_random_nodes(seeds: range) -> None:
    """Infer the plain ones of random nodes in this process."""
    for seed in seeds:
        rng = random.Random(seed)
        schema, node = random_node(rng)
        try:
            check(OnnxNode(node, "n", schema.since_version))
        except HexsimError:
            continue
        if not is_plain(node):
            continue
        shapes = [[rng.choice([0, 1, 2, 4]) for _ in range(rng.randint(0, 5))] for _ in node.input]
        types = {
            name: helper.make_tensor_type_proto(rng.choice([FLOAT, FLOAT, 7, 6, 9]), shape)
            for name, shape in zip(node.input, shapes, strict=True)
        }
        imports = [helper.make_opsetid(schema.domain, schema.since_version)]
        try:
            onnx.shape_inference.infer_node_outputs(
                schema, node, types, {}, opset_imports=imports, ir_version=9
            )
        except Exception:
            continue


@pytest.mark.slow
def test_onnx_crashes_at_no_plain_node() -> None:
    """The process is another one, so that a crash fails this test alone."""
    words = isolation.python(str(Path(__file__)), "0", "20000")
    path = os.pathsep.join(filter(None, sys.path))
    done = subprocess.run(words, env={**os.environ, "PYTHONPATH": path}, check=False)
    assert done.returncode == 0


if __name__ == "__main__":
    infer_random_nodes(range(int(sys.argv[1]), int(sys.argv[2])))
