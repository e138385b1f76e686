"""`snpe-dlc-quantize`: which ranges it takes, how small they may be, and what its log says."""

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import helper

from hexsim import dlc
from hexsim.quantization.encodings import Encoding
from tests.cli.conftest import Done

Tool = Callable[[str], Done]
QUANTIZE = "snpe-dlc-quantize --input_dlc m.dlc --input_list list.txt --output_dlc q.dlc"


@pytest.fixture
def values(tmp_path: Path) -> np.ndarray:
    """The only calibration input, from -0.002 to 0.003, and list.txt that names it."""
    array = np.linspace(-0.002, 0.003, 4, dtype=np.float32).reshape(1, 1, 1, 4)
    array.tofile(tmp_path / "0.raw")
    (tmp_path / "list.txt").write_text("0.raw\n")
    return array


@pytest.fixture
def nodes(values: np.ndarray, tmp_path: Path, onnx_model: Callable[..., onnx.ModelProto]) -> None:
    """m.onnx: an input with Q/DQ nodes from -12.8 to 12.7, and a Sigmoid."""
    numbers = {"s": np.float32(0.1), "z": np.uint8(128)}
    graph = [
        helper.make_node("QuantizeLinear", ["x", "s", "z"], ["q"]),
        helper.make_node("DequantizeLinear", ["q", "s", "z"], ["d"]),
        helper.make_node("Sigmoid", ["d"], ["y"], "sigmoid"),
    ]
    onnx.save(onnx_model(graph, {"x": (1, 4, 1, 1)}, ["y"], numbers), tmp_path / "m.onnx")


@pytest.fixture
def plain(values: np.ndarray, tmp_path: Path, onnx_model: Callable[..., onnx.ModelProto]) -> Path:
    """m.onnx: a Sigmoid."""
    graph = [helper.make_node("Sigmoid", ["x"], ["y"], "sigmoid")]
    onnx.save(onnx_model(graph, {"x": (1, 4, 1, 1)}, ["y"], {}), tmp_path / "m.onnx")
    return tmp_path


def encoding_of_x() -> Encoding:
    return dlc.read("q.dlc").model.activations["x"]


@pytest.mark.usefixtures("nodes")
def test_ranges_of_nodes_are_taken_if_asked_only(tool: Tool) -> None:
    assert tool("snpe-onnx-to-dlc -i m.onnx").code == 0
    done = tool(QUANTIZE)
    assert encoding_of_x() == Encoding.from_range(
        float(np.float32(-0.002)), float(np.float32(0.003))
    )
    assert "overrides of the file not applied: 1 (--override_params applies them)" in done.err
    tool(f"{QUANTIZE} --override_params")
    given = encoding_of_x()
    assert given.delta == pytest.approx(0.1)
    assert given.offset == -128


@pytest.mark.usefixtures("plain")
def test_the_log_has_two_lines_for_each_tensor(tool: Tool) -> None:
    tool("snpe-onnx-to-dlc -i m.onnx")
    done = tool(QUANTIZE)
    lines = done.err.splitlines()
    x = encoding_of_x()
    assert (done.out, lines[2]) == ("", "[INFO] Writing intermediate model")
    assert lines[3] == "[INFO] Setting activation for layer: x and buffer: x"
    numbers = f"min: {x.min:.6f}, max: {x.max:.6f}, delta: {x.delta:.6f}, offset: {x.offset}.000000"
    assert lines[4] == f"[INFO] bw: 8, {numbers}"
    assert sum("Setting activation" in line for line in lines) == 2
    assert lines[-2] == "[INFO] Writing quantized model to: q.dlc"


@pytest.mark.usefixtures("nodes")
def test_our_own_command_takes_them_by_default(tool: Tool, command: Tool) -> None:
    tool("snpe-onnx-to-dlc -i m.onnx")
    command("quantize m.dlc --input-list list.txt -o q.dlc")
    assert encoding_of_x().delta == pytest.approx(0.1)


@pytest.mark.usefixtures("plain")
@pytest.mark.parametrize(
    ("options", "minimum", "stack", "delta"),
    [
        ("", "0.01", "", 0.01 / 255),
        ("--chip sd855", "0.01", " (stack snpe-1.30)", 0.01 / 255),
        ("--stack qnn-2.45", "0.0001", " (stack qnn-2.45)", 0.005 / 255),
        ("--chip sd865", "0.0001", " (stack qnn-2.45)", 0.005 / 255),
        ("--chip sd865 --stack snpe-1.23", "0.01", " (stack snpe-1.23)", 0.01 / 255),
    ],
)
def test_the_minimum_range_is_that_of_the_stack(
    tool: Tool, options: str, minimum: str, stack: str, delta: float
) -> None:
    tool("snpe-onnx-to-dlc -i m.onnx")
    done = tool(f"{QUANTIZE} {options}")
    assert encoding_of_x().delta == pytest.approx(delta)
    line = f"[INFO] minimum range of an encoding: {minimum}{stack}"
    assert line in done.err.splitlines()


def test_a_range_flagged_symmetric_becomes_so_and_prints_as_float32(
    tool: Tool, plain: Path
) -> None:
    """The converter's page has an offset of 127 for such ranges, which is none of a symmetric one.

    -5.0604 to 5.1 in 255 steps of 0.03984: -127.02 steps below zero. The limit is 5.1.
    """
    numbers = {"bitwidth": 8, "max": 5.1, "min": -5.0604, "offset": -127, "scale": 0.03984}
    x = {**numbers, "is_symmetric": "True"}
    y = {"bitwidth": 8, "min": 0.0, "max": 263.15748}
    file = {"activation_encodings": {"x": [x], "y": [y]}, "param_encodings": {}}
    (plain / "e.json").write_text(json.dumps(file))
    done = tool("snpe-onnx-to-dlc -i m.onnx --quantization_overrides e.json")
    assert "Processing user provided quantization encodings:" in done.err
    done = tool(f"{QUANTIZE} --override_params")
    assert (done.code, encoding_of_x()) == (0, Encoding(8, -5.1, 5.1, 10.2 / 255, -128))
    assert "bw: 8, min: -5.100000, max: 5.100000, delta: 0.040000, offset: -128" in done.err
    assert "min: 0.000000, max: 263.157471, delta: 1.031990" in done.err
    assert "max 263.157470703125, delta 1.031990170479" in tool("snpe-dlc-info -i q.dlc").out


def test_empty_overrides_are_no_error(tool: Tool, plain: Path) -> None:
    (plain / "e.json").write_text('{"activation_encodings": {}, "param_encodings": {}}')
    tool("snpe-onnx-to-dlc -i m.onnx --quantization_overrides e.json")
    done = tool(f"{QUANTIZE} --override_params")
    assert (done.code, encoding_of_x()) == (
        0,
        Encoding.from_range(float(np.float32(-0.002)), float(np.float32(0.003))),
    )
    assert "the overrides that 'm.dlc' was converted with are empty" in done.err
    tool("snpe-onnx-to-dlc -i m.onnx")
    done = tool(f"{QUANTIZE} --override_params")
    assert "--override_params changes nothing: 'm.dlc' holds no overrides" in done.err
    assert tool(QUANTIZE.replace("q.dlc", "without.dlc")).code == 0
    activations = [dlc.read(f).model.activations for f in ("q.dlc", "without.dlc")]
    assert (done.code, activations[0]) == (0, activations[1])


def test_a_batch_is_quantised_and_it_is_said_that_a_device_takes_one(
    tool: Tool, tmp_path: Path, onnx_model: Callable[..., onnx.ModelProto], values: np.ndarray
) -> None:
    graph = [helper.make_node("Sigmoid", ["x"], ["y"], "sigmoid")]
    onnx.save(onnx_model(graph, {"x": (2, 4, 1, 1)}, ["y"], {}), tmp_path / "m.onnx")
    (tmp_path / "list.txt").write_text("0.raw\n0.raw\n")
    tool("snpe-onnx-to-dlc -i m.onnx")
    done = tool(QUANTIZE)
    assert done.code == 0
    assert "[WARNING] a batch of 2 is quantised; SNPE's guide allows 1 only" in done.err


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize(("name", "least"), [("snpe-dlc-quantize", 0.01), ("snpe-dlc-quant", 1e-4)])
def test_tools_of_2_x_have_its_minimum_range(
    name: str, least: float, tool: Tool, tmp_path: Path
) -> None:
    assert tool("snpe-onnx-to-dlc -i m.onnx -o small.dlc").code == 0
    np.full(48, 1e-6, np.float32).tofile(tmp_path / "small.raw")
    (tmp_path / "small.txt").write_text("small.raw\n")
    line = f"{name} --input_dlc small.dlc --input_list small.txt --output_dlc q.dlc"
    code, _, err = tool(line)
    assert code == 0, err
    model = dlc.read(tmp_path / "q.dlc").model
    (source,) = model.network.inputs
    encoding = model.activations[source]
    assert encoding.max - encoding.min == pytest.approx(least, rel=1e-3)
