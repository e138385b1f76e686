"""`hexsim info --imports` and `hexsim.import_report`: what became of the nodes of a file."""

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import helper

import hexsim
from hexsim.errors import HexsimError

Command = Callable[[str], tuple[int, str, str]]


@pytest.fixture
def file(tmp_path: Path, onnx_model: Callable[..., onnx.ModelProto]) -> Path:
    """m.onnx: Shape arithmetic, a fused convolution, SiLU, a Dropout and an opaque operator."""
    nodes = [
        helper.make_node("FusedConv", ["x", "w"], ["c"], "conv", "", "com.microsoft",
                         activation="Relu"),
        helper.make_node("Sigmoid", ["c"], ["g"], "gate"),
        helper.make_node("Mul", ["c", "g"], ["m"], "swish"),
        helper.make_node("Dropout", ["m"], ["d"], "drop"),
        helper.make_node("Shape", ["d"], ["s"], "shape"),
        helper.make_node("Reshape", ["d", "s"], ["r"], "same"),
        helper.make_node("Hardmax", ["r"], ["h"], "hard"),
        helper.make_node("Mul", ["h", "rate"], ["y"], "scaled"),
    ]  # fmt: skip
    weights = {"w": np.ones((4, 3, 1, 1))}
    model = onnx_model(nodes, {"x": (1, 3, 4, 4), "rate": ()}, ["y"], weights)
    model.opset_import.append(helper.make_opsetid("com.microsoft", 1))
    onnx.save(model, tmp_path / "m.onnx")
    return tmp_path


@pytest.mark.usefixtures("file")
def test_every_node_is_accounted_for(command: Command) -> None:
    code, out, err = command("info m.onnx --imports --input-value rate 2 --json m.json")
    assert code == 0, err
    account = json.loads(Path("m.json").read_text())["imports"]
    assert account["nodes"] == 8
    assert account["expanded"] == {"conv": "com.microsoft.FusedConv"}
    assert account["folded"] == {"shape": "Shape"}
    assert set(account["removed"]) >= {"drop", "same"}
    (silu,) = (pattern for pattern in account["recognised"] if "silu" in pattern["rule"])
    assert (silu["layer"], silu["nodes"]) == ("gate", ["swish"])
    (opaque,) = account["opaque"]
    assert (opaque["name"], opaque["operator"]) == ("hard", "Hardmax")
    assert "Expanded into standard operators: 1 (1 com.microsoft.FusedConv)" in out
    assert "find functions: silu" in out
    assert opaque["reason"] in out


def test_the_same_in_python(file: Path) -> None:
    report = hexsim.import_report(file / "m.onnx", input_values={"rate": 2})
    assert [node.name for node in report.opaque] == ["hard"]
    assert hexsim.load(file / "m.onnx", input_values={"rate": 2}).network.inputs == ("x",)


@pytest.mark.usefixtures("file")
def test_a_converted_file_does_not_know(command: Command) -> None:
    assert command("convert m.onnx --input-value rate 2")[0] == 0
    code, _, err = command("info m.dlc --imports")
    assert (code, "give the ONNX file" in err) == (2, True)
    code, _, err = command("info m.dlc --input-value rate 2")
    assert (code, "converted already" in err) == (2, True)
    with pytest.raises(HexsimError, match="does not say what became"):
        hexsim.import_report("m.dlc")


@pytest.mark.usefixtures("file")
@pytest.mark.parametrize("text", ["rate", "rate two", "2"])
def test_a_value_must_be_a_number(text: str, command: Command) -> None:
    code, _, err = command(f'info m.onnx --input-value "{text}"')
    assert (code, "'NAME 16000'" in err) == (2, True)


def test_quantising_nodes_are_counted_once(
    command: Command, tmp_path: Path, onnx_model: Callable[..., onnx.ModelProto]
) -> None:
    """A pair around x has no effect; a weight's node is known before the network runs."""
    nodes = [
        helper.make_node("QuantizeLinear", ["x", "s", "z"], ["q"], "quantize"),
        helper.make_node("DequantizeLinear", ["q", "s", "z"], ["d"], "dequantize"),
        helper.make_node("DequantizeLinear", ["w", "s", "wz"], ["wd"], "weight"),
        helper.make_node("Conv", ["d", "wd"], ["y"], "conv"),
    ]
    weights = {
        "s": np.float32(0.5),
        "z": np.uint8(3),
        "wz": np.int8(0),
        "w": np.ones((4, 3, 1, 1), np.int8),
    }
    onnx.save(onnx_model(nodes, {"x": (1, 3, 4, 4)}, ["y"], weights), tmp_path / "m.onnx")
    code, out, err = command("info m.onnx --imports --json m.json")
    assert code == 0, err
    account = json.loads(Path("m.json").read_text())["imports"]
    assert account["folded"] == {"weight": "DequantizeLinear"}
    assert sorted(account["removed"]) == ["dequantize", "quantize"]
    assert "Known before the network runs: 1 (1 DequantizeLinear)" in out
    assert "Without effect: 2" in out
