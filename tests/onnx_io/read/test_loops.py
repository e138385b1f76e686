"""Loops of known trips become the nodes of all trips; the values are those of onnxruntime."""

from collections.abc import Sequence

import numpy as np
import onnx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from onnx import TensorProto, helper, numpy_helper

from hexsim.errors import HexsimError
from hexsim.graph.ir import Network
from hexsim.layers import FullyConnected, Opaque
from hexsim.onnx_io.read.reader import read, read_with_codes
from tests.onnx_io.read.expansions.judged import assert_same

node = helper.make_node
RNG = np.random.default_rng(4)
WEIGHT = (RNG.standard_normal((6, 6)) * 0.4).astype(np.float32)
X = RNG.standard_normal((5, 2, 6)).astype(np.float32)
SIZE = (2, 6)


def info(
    name: str, shape: Sequence[int] | None, kind: int = TensorProto.FLOAT
) -> onnx.ValueInfoProto:
    return helper.make_tensor_value_info(name, kind, shape)


def constant(name: str, value: object, dtype: str = "float32") -> onnx.TensorProto:
    return numpy_helper.from_array(np.asarray(value, dtype), name)


def body_of(
    nodes: list[onnx.NodeProto],
    states: Sequence[str] = ("h",),
    rows: Sequence[str] = (),
    results: Sequence[str] = ("r",),
    constants: Sequence[onnx.TensorProto] = (),
    *,
    is_scan: bool = False,
) -> onnx.GraphProto:
    """A body that passes its condition on, unless a node writes "go_out"; new states end in "2"."""
    inputs = [] if is_scan else [info("i", [], TensorProto.INT64), info("go", [], TensorProto.BOOL)]
    outputs = [] if is_scan else [info("go_out", [], TensorProto.BOOL)]
    if not is_scan and not any("go_out" in made.output for made in nodes):
        nodes = [*nodes, node("Identity", ["go"], ["go_out"])]
    inputs += [info(name, None) for name in (*states, *rows)]
    outputs += [info(name, None) for name in (*(f"{state}2" for state in states), *results)]
    return helper.make_graph(nodes, "body", inputs, outputs, list(constants))


def model_of(
    loop: onnx.NodeProto, trips: int | None = 4, opset: int = 17, shape: Sequence[int] = X.shape
) -> onnx.ModelProto:
    """A network of x, a loop around the state s, and y = Neg of each result."""
    nodes = [
        node("Neg", ["x"], ["n"]),
        node("ReduceMean", ["x"], ["s"], **({} if opset >= 18 else {"axes": [0]}), keepdims=0),
        loop,
        *(node("Neg", [name], [f"{name}_y"]) for name in loop.output),
    ]
    constants = [constant("w", WEIGHT), constant("go_in", True, "bool")]
    if trips is not None:
        constants.append(constant("trips", trips, "int64"))
    outputs = [info(f"{name}_y", None) for name in loop.output]
    graph = helper.make_graph(nodes, "net", [info("x", shape)], outputs, constants)
    imports = [helper.make_opsetid("", opset)]
    return helper.make_model(graph, opset_imports=imports, ir_version=8)


STEP = [
    node("MatMul", ["h", "w"], ["p"]),
    node("Tanh", ["p"], ["h2"]),
    node("Identity", ["h2"], ["r"]),
]


def test_a_loop_of_known_trips_is_written_out() -> None:
    loop = node("Loop", ["trips", "go_in", "s"], ["last", "all"], "loop", body=body_of(STEP))
    model = model_of(loop)
    network = assert_same(model, {"x": X})
    weights = {layer.weight for layer in network.layers if isinstance(layer, FullyConnected)}
    assert weights == {"w"}, "all trips share it"
    assert "read 4 times" in " ".join(read_with_codes(model).report.notes)
    assert {"loop.0.p", "loop.3.p"} <= set(network.tensors)


@pytest.mark.parametrize("opset", [11, 13, 17])
@pytest.mark.parametrize("backwards", [0, 1])
@pytest.mark.parametrize("axis", [0, 1, -1])
def test_a_scan_is_written_out(opset: int, backwards: int, axis: int) -> None:
    shape = [size for place, size in enumerate(X.shape) if place != axis % 3]
    nodes = [
        node("Add", ["h", "t"], ["h2"]),
        node("Mul", ["h2", "half"], ["r"]),
    ]
    body = body_of(nodes, rows=["t"], constants=[constant("half", 0.5)], is_scan=True)
    scan = node(
        *("Scan", ["h0", "n"], ["last", "all"], "scan"),
        **{"body": body, "num_scan_inputs": 1, "scan_input_axes": [axis]},
        **{"scan_input_directions": [backwards], "scan_output_directions": [backwards]},
        scan_output_axes=[axis],
    )
    model = model_of(scan, opset=opset)
    model.graph.initializer.append(constant("h0", RNG.standard_normal(shape)))
    assert_same(model, {"x": X})


def test_the_condition_may_count() -> None:
    """Without a number of trips, it ends the loop."""
    nodes = [*STEP, node("Less", ["i", "two"], ["go_out"])]
    body = body_of(nodes, constants=[constant("two", 2, "int64")])
    loop = node("Loop", ["", "go_in", "s"], ["last", "all"], "loop", body=body)
    network = assert_same(model_of(loop, None), {"x": X})
    assert network.tensors["all_y"].shape[0] == 3


def test_a_condition_that_the_input_decides_leaves_the_loop_to_the_cpu() -> None:
    nodes = [
        *STEP,
        node("ReduceMax", ["h2"], ["most"], keepdims=0),
        node("Greater", ["most", "least"], ["go_out"]),
    ]
    body = body_of(nodes, results=(), constants=[constant("least", 0.1)])
    loop = node("Loop", ["trips", "go_in", "s"], ["last"], "loop", body=body)
    assert_same(model_of(loop, 50), {"x": X}, opaque=["Loop"])
    body = body_of(nodes, constants=[constant("least", 0.1)])
    loop = node("Loop", ["trips", "go_in", "s"], ["last", "all"], "loop", body=body)
    with pytest.raises(HexsimError, match="the shape of output 'last' cannot be inferred"):
        read(model_of(loop, 50))


def test_a_loop_of_more_nodes_than_a_file_may_have_stays_opaque() -> None:
    loop = node("Loop", ["trips", "go_in", "s"], ["last"], "loop", body=body_of(STEP, results=()))
    assert opaque(read(model_of(loop, 1 << 40))) == ["Loop"]


def opaque(network: Network) -> list[str]:
    return [layer.op_type for layer in network.layers if isinstance(layer, Opaque)]


def test_a_state_may_grow() -> None:
    nodes = [node("Concat", ["h", "s"], ["h2"], axis=0)]
    loop = node("Loop", ["trips", "", "s"], ["last"], "loop", body=body_of(nodes, results=()))
    network = assert_same(model_of(loop), {"x": X})
    assert network.tensors["last_y"].shape == (10, 6)


def test_a_loop_and_a_branch_in_a_loop() -> None:
    """Their names are those of one trip; the condition of the branch is the number of the trip."""
    inner = body_of([node("Add", ["g", "p"], ["g2"])], states=("g",), results=())
    inner.node[-1].output[0] = inner.output[0].name = "inner_go"
    then, other = (
        helper.make_graph([node(op, ["q"], [f"b{op}"])], op, [], [info(f"b{op}", None)])
        for op in ("Sin", "Cos")
    )
    nodes = [
        node("MatMul", ["h", "w"], ["p"]),
        node("Loop", ["three", "", "h"], ["q"], body=inner),
        node("Less", ["i", "three"], ["early"]),
        node("If", ["early"], ["h2"], then_branch=then, else_branch=other),
        node("Identity", ["q"], ["r"]),
    ]
    body = body_of(nodes, constants=[constant("three", 3, "int64")])
    loop = node("Loop", ["trips", "go_in", "s"], ["last", "all"], "loop", body=body)
    assert_same(model_of(loop, 5), {"x": X})


@given(st.integers(0, 2**32 - 1))
def test_random_bodies(seed: int) -> None:
    """States, rows of a Scan, outer tensors and the number of the trip meet at random."""
    random = np.random.default_rng(seed)
    is_scan = bool(random.integers(2))
    states = [f"h{number}" for number in range(random.integers(1, 4))]
    made = [*states, "s", "s", *(["t"] if is_scan else ["f"])]
    nodes = [] if is_scan else [node("Cast", ["i"], ["f"], to=TensorProto.FLOAT)]
    scalars = {"f"}
    for number in range(random.integers(2, 9)):
        op = str(random.choice(["Add", "Mul", "Sub", "Tanh", "Sin", "MatMul", "Max"]))
        inputs = [str(name) for name in random.choice(made, 2)]
        if op in ("Tanh", "Sin"):
            inputs = inputs[:1]
        if op == "MatMul":
            inputs = [inputs[0] if inputs[0] not in scalars else "s", "w"]
        nodes.append(node(op, inputs, [f"v{number}"]))
        made.append(f"v{number}")
        if scalars.issuperset(inputs):
            scalars.add(made[-1])
    ends = [str(name) for name in random.choice(made[len(states) :], len(states) + 1)]
    for name, end in zip((*(f"{state}2" for state in states), "r"), ends, strict=True):
        nodes.append(node("Add", [end, "s"], [name]))  # a number of a trip becomes a tensor
    body = body_of(nodes, states, ["t"] if is_scan else [], is_scan=is_scan)
    outputs = [f"last{state}" for state in states] + ["all"]
    loop = (
        node("Scan", ["s"] * len(states) + ["n"], outputs, body=body, num_scan_inputs=1)
        if is_scan
        else node("Loop", ["trips", "go_in"] + ["s"] * len(states), outputs, body=body)
    )
    assert_same(model_of(loop, int(random.integers(1, 6))), {"x": X})


@pytest.mark.parametrize(
    "change",
    [{"num_scan_inputs": 9}, {"num_scan_inputs": -1}, {"scan_input_axes": [7]}],
)
def test_a_wrong_scan_is_refused(change: dict[str, object]) -> None:
    body = body_of([node("Add", ["h", "t"], ["h2"])], rows=["t"], results=(), is_scan=True)
    attributes = {"num_scan_inputs": 1, **change}
    scan = node("Scan", ["s", "n"], ["last"], "scan", body=body, **attributes)
    with pytest.raises(HexsimError, match=r"node 'scan' \(Scan\)"):
        read(model_of(scan))
