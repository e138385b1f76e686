"""Weights in blocks (LPBQ) are the nearest multiples of their block's step, as 8-bit codes."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

import hexsim
from hexsim.errors import HexsimError
from hexsim.quantization.block_encoding import BlockEncoding
from hexsim.quantization.encodings import AxisEncoding
from hexsim.quantization.overrides.numbers import symmetric_steps

DEPTH, CHANNELS, SIZE = 16, 6, 8


def test_worked_example() -> None:
    """Two channels of two blocks of two inputs; steps 0.1 and 1, times 2, 1 and 1, 16."""
    encoding = BlockEncoding(
        (symmetric_steps(0.1, 8), symmetric_steps(1.0, 8)), 4, 2, ((2, 1), (1, 16))
    )
    weight = np.array([[0.29, 6.4], [-5.0, 9.0], [0.29, 24.0], [0.04, -200.0]], np.float32)
    codes = encoding.quantize(weight)
    # 0.29 is 1.45 steps of 0.2: one, code 2; -5 saturates at -8 steps: -16; 24 is 1.5 steps of 16
    assert codes.tolist() == [[2, 6], [-16, 7], [3, 32], [0, -128]]
    assert encoding.dequantize(codes)[0].tolist() == pytest.approx([0.2, 6.0])


def convolution(folder: Path, blocks: Mapping[str, Any], kernel: int = 3) -> Path:
    """Write c.onnx, and encodings of its weight in blocks; return the path of these."""
    weight = np.random.default_rng(1).normal(size=(CHANNELS, DEPTH, kernel, kernel))
    image = helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, DEPTH, 8, 8])
    output = helper.make_tensor_value_info("y", TensorProto.FLOAT, None)
    node = helper.make_node("Conv", ["x", "w"], ["y"], "conv")
    tensor = numpy_helper.from_array(weight.astype(np.float32), "w")
    graph = helper.make_graph([node], "blocks", [image], [output], [tensor])
    onnx.save(helper.make_model(graph), folder / "c.onnx")
    entry = {
        "name": "w",
        "output_dtype": "int4",
        "per_channel_float_scale": [[[[s]]] for s in np.linspace(0.02, 0.03, CHANNELS)],
        "per_block_int_scale": [[[[1 + c]], [[16 - c]]] for c in range(CHANNELS)],
        "axis": 1,
        "block_size": SIZE,
        **blocks,
    }
    path = folder / "c.json"
    path.write_text(json.dumps({"version": "2.0.0", "encodings": [entry]}))
    return path


def test_codes_are_those_of_the_definition_in_memory_and_in_a_file(tmp_path: Path) -> None:
    overrides = hexsim.read_overrides(convolution(tmp_path, {}))
    model = hexsim.quantize(hexsim.load(tmp_path / "c.onnx"), overrides=overrides)
    weight = numpy_helper.to_array(onnx.load(tmp_path / "c.onnx").graph.initializer[0])
    scales = np.linspace(0.02, 0.03, CHANNELS).reshape(-1, 1, 1, 1)
    multiples = np.array([[1 + c, 16 - c] for c in range(CHANNELS)]).repeat(SIZE, axis=1)
    steps = scales * multiples[..., None, None]  # by AIMET: round(w / step), -8 to 7, times step
    expected = np.clip(np.round(weight / steps), -8, 7) * steps
    hexsim.save(model, tmp_path / "c.dlc")
    read = hexsim.load(tmp_path / "c.dlc")
    for held in (model, read):
        stored = held.as_coded.constants["w"].value()
        np.testing.assert_allclose(stored.transpose(3, 2, 0, 1), expected, rtol=1e-6)
    assert isinstance(read.parameters["w"], AxisEncoding)
    x = np.random.default_rng(2).normal(size=(1, DEPTH, 8, 8)).astype(np.float32)
    answers = [next(hexsim.run(held, [x], "sd855", "dsp"))["y"] for held in (model, read)]
    np.testing.assert_array_equal(*answers)
    (outcome,) = model.overrides
    assert (outcome.outcome, outcome.section) == ("applied", "parameter")
    assert "4-bit codes in blocks of 8 input channels (LPBQ)" in outcome.reason


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"block_size": 16}, "12 scales of blocks of 16 do not fit 16 input and 6 output"),
        ({"per_channel_float_scale": [[[[1.0]]]] * 5}, "5 scales for 6 output channels"),
        ({"name": "x"}, "blocks (LPBQ) are for weights"),
    ],
)
def test_blocks_that_do_not_fit_are_refused(
    tmp_path: Path, changed: dict[str, Any], said: str
) -> None:
    overrides = hexsim.read_overrides(convolution(tmp_path, changed))
    with pytest.raises(HexsimError) as error:
        hexsim.quantize(hexsim.load(tmp_path / "c.onnx"), overrides=overrides)
    assert said in str(error.value)


def test_blocks_need_codes_in_the_file(tmp_path: Path) -> None:
    overrides = hexsim.read_overrides(convolution(tmp_path, {}))
    options = hexsim.QuantizationOptions(float_weights=True)
    with pytest.raises(HexsimError, match="no codes are stored"):
        hexsim.quantize(hexsim.load(tmp_path / "c.onnx"), None, options, overrides)


def test_channels_on_another_axis_are_refused(tmp_path: Path) -> None:
    entry = {"y_scale": [1.0] * CHANNELS, "per_block_int_scale": None, "block_size": None}
    overrides = hexsim.read_overrides(convolution(tmp_path, {**entry, "output_dtype": "int8"}))
    with pytest.raises(HexsimError, match="'axis' is 1; the kernels have a scale per output"):
        hexsim.quantize(hexsim.load(tmp_path / "c.onnx"), overrides=overrides)
