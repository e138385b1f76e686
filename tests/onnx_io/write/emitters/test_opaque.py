"""An opaque layer is the node that it holds, or is refused.

Coding nodes are written in the form that onnxruntime has for every opset.
"""

from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import TensorProto, helper

import hexsim
from hexsim.errors import HexsimError
from hexsim.layers import Opaque
from hexsim.onnx_io.write.emitters.opaque import as_run, require_node
from tests.conftest import run_onnx

NODE = helper.make_node("Max", ["a", "", "b"], ["c"])
LAYER = Opaque(
    name="n",
    inputs=("a", "b"),
    outputs=("c",),
    op_type="Max",
    node=NODE.SerializeToString(),
    shapes=((1,),),
)


def test_the_node_of_a_layer_is_taken() -> None:
    require_node(LAYER)
    require_node(LAYER.replace(op_type="com.example.Max"))


@pytest.mark.parametrize(
    ("layer", "words"),
    [
        (LAYER.replace(node=b"\xff\xff"), "holds no ONNX node"),
        (LAYER.replace(op_type="Min"), "is 'Min', and its node a 'Max'"),
        (LAYER.replace(inputs=("a",)), "has 1 inputs, and its node reads 2"),
        (LAYER.replace(outputs=("c", "d")), "has 2 outputs, and its node writes 1"),
    ],
)
def test_another_is_refused(layer: Opaque, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        require_node(layer)


@pytest.mark.parametrize("operator", ["QuantizeLinear", "DequantizeLinear"])
def test_coding_nodes_go_to_the_domain_of_onnxruntime(operator: str) -> None:
    node = helper.make_node(operator, ["x", "s", "z"], ["y"], axis=0)
    moved = as_run(node, {"float32", "uint8"})
    assert moved.domain == "com.microsoft"
    assert (moved.op_type, moved.input, moved.attribute) == (operator, node.input, node.attribute)
    assert node.domain == ""


def test_what_that_domain_lacks_stays() -> None:
    blocked = helper.make_node("QuantizeLinear", ["x", "s"], ["y"], block_size=2)
    assert as_run(blocked, ()) is blocked
    relu = helper.make_node("Relu", ["x"], ["y"])
    assert as_run(relu, ()) is relu


EIGHT_BIT_FLOATS = ["FLOAT8E4M3FN", "FLOAT8E4M3FNUZ", "FLOAT8E5M2", "FLOAT8E5M2FNUZ"]


needs_8_bit_floats = pytest.mark.skipif(
    onnx.__version__.startswith(("1.17.", "1.18.")), reason="onnx has arrays of them from 1.19 on"
)


def rounding(element_type: str) -> onnx.ModelProto:
    """An input that is rounded to 8-bit floats, and multiplied."""
    rng = np.random.default_rng(4)
    nodes = [
        helper.make_node("QuantizeLinear", ["x", "s", "z"], ["q"], "q"),
        helper.make_node("DequantizeLinear", ["q", "s", "z"], ["d"], "d"),
        helper.make_node("MatMul", ["d", "w"], ["y"], "y"),
    ]
    graph = helper.make_graph(
        nodes,
        "rounding",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, (1, 8, 6))],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)],
        [
            helper.make_tensor("z", getattr(TensorProto, element_type), [], b"\0", raw=True),
            helper.make_tensor("s", TensorProto.FLOAT, [], [0.02]),
            helper.make_tensor("w", TensorProto.FLOAT, (6, 5), rng.normal(size=30)),
        ],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 19)], ir_version=9)


@needs_8_bit_floats
@pytest.mark.skipif(
    tuple(map(int, onnxruntime.__version__.split(".")[:2])) < (1, 32),
    reason="onnxruntime reshapes them from 1.32 on",
)
@pytest.mark.parametrize("element_type", EIGHT_BIT_FLOATS)
def test_8_bit_floats_are_rounded_on_the_cpu(element_type: str) -> None:
    model = rounding(element_type)
    x = np.random.default_rng(5).normal(size=(1, 8, 6)).astype(np.float32)
    expected = run_onnx(model, {"x": x})["y"]
    weight = onnx.numpy_helper.to_array(model.graph.initializer[2])
    assert np.abs(expected - x @ weight).max() > 0.01, "rounding shows"
    loaded = hexsim.load(model)
    (cpu,) = hexsim.run(loaded, [x], runtime="cpu", chip="sd835")
    np.testing.assert_allclose(cpu["y"], expected, rtol=1e-6, atol=1e-6)
    (dsp,) = hexsim.run(hexsim.quantize(loaded, [x]), [x], chip="sd835")
    assert np.abs(dsp["y"] - expected).max() < 0.05 * np.abs(expected).max()


@needs_8_bit_floats
@pytest.mark.parametrize("element_type", EIGHT_BIT_FLOATS)
def test_a_dlc_file_holds_no_8_bit_floats(element_type: str, tmp_path: Path) -> None:
    """It is refused when it would be written, not when it is read."""
    with pytest.raises(HexsimError, match="cannot be written: constant 'z': elements of type"):
        hexsim.save(hexsim.load(rounding(element_type)), tmp_path / "m.dlc")
    assert not list(tmp_path.iterdir())
