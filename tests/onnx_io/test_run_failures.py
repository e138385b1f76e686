"""Why onnxruntime does not run a graph: the node is named, and its own text stays away."""

from collections.abc import Callable

import numpy as np
import onnx
import pytest
from onnx import helper

from hexsim.errors import HexsimError
from hexsim.graph.ir import Constant, Network, Tensor
from hexsim.layers import Opaque
from hexsim.onnx_io.float_engine import FloatEngine
from hexsim.onnx_io.read.reader import read
from tests.fuzz.onnx_hostile import _loop
from tests.fuzz.onnx_seeds import model

node = helper.make_node
X = {"x": np.ones((2, 3), np.float32)}


def _typed(kind: int) -> onnx.ModelProto:
    made = model([node("Add", ["x", "x"], ["y"])], {})
    for value in (*made.graph.input, *made.graph.output):
        value.type.tensor_type.elem_type = kind
    return made


def _unknown() -> onnx.ModelProto:
    made = model([node("Wave", ["x"], ["y"], domain="own", name="w")], {})
    made.opset_import.append(helper.make_opsetid("own", 1))
    return made


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (
            lambda: _typed(onnx.TensorProto.UINT4),
            "operator Add (does not take these element types|has no implementation in it)",
        ),
        (_unknown, r"node 'w' \(own\.Wave\)|operator own\.Wave is unknown to it"),
    ],
)
def test_the_culprit_is_named(make: Callable[[], onnx.ModelProto], words: str) -> None:
    with pytest.raises(HexsimError, match=f"cannot run network '.*': ({words})") as refused:
        FloatEngine(read(make()))
    assert "ONNXRuntimeError" not in str(refused.value)
    assert refused.value.__cause__ is not None


def test_an_inference_without_an_end_is_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    proto = _loop(None).graph.node[0]
    layer = Opaque(
        name="l",
        inputs=("go", "x"),
        outputs=("y",),
        op_type="Loop",
        node=proto.SerializeToString(),
        shapes=((2, 3),),
    )
    tensors = {name: Tensor(name, (2, 3)) for name in "xy"}
    go = Constant("go", (), np.array(True), "bool")
    engine = FloatEngine(Network("n", (layer,), tensors, {"go": go}, ("x",), ("y",)))
    monkeypatch.setenv("HEXSIM_BUDGET", "0.002")
    with pytest.raises(
        HexsimError, match=r"takes longer than that, and the budget is 1\.2 seconds"
    ):
        engine.run(X)


def test_a_network_that_computes_nothing_gives_its_input_back() -> None:
    made = model([node("Relu", ["x"], ["y"])], {})
    made.graph.output[0].name = "x"
    assert np.array_equal(FloatEngine(read(made)).run(X)["x"], X["x"])


def test_values_have_a_budget(monkeypatch: pytest.MonkeyPatch) -> None:
    network = read(model([node("Relu", ["x"], ["y"])], {}))
    monkeypatch.setenv("HEXSIM_BUDGET", "1e-8")
    with pytest.raises(HexsimError, match="an inference of network 'seed' asks for 12"):
        FloatEngine(network)
