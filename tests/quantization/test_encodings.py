"""Worked examples of the SNPE quantisation guide, and the properties every encoding has.

The guide's examples of packing, and every code comes back.

Weights in blocks (LPBQ) are the nearest multiples of their block's step, as 8-bit codes.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from onnx import TensorProto, helper, numpy_helper

import hexsim
from hexsim.errors import HexsimError
from hexsim.quantization.encodings import (
    AxisEncoding,
    BlockEncoding,
    Encoding,
    Runs,
    pack,
    packed_bytes,
    unpack,
)
from hexsim.quantization.overrides.apply import symmetric_steps

reals = st.floats(-1e4, 1e4, allow_nan=False, width=32)


@pytest.mark.parametrize(
    ("low", "high", "emin", "emax", "delta", "offset"),
    [
        (-1.8, 0.5, -1.803922, 0.496078, 0.009020, -200),
        (-5.1, 5.1, -5.12, 5.08, 0.04, -128),
        (5.0, 10.0, 0.0, 10.0, 0.0392157, 0),
        (-20.0, -6.0, -20.0, 0.0, 0.0784314, -255),
        (0.0, 0.0, 0.0, 0.01, 3.92157e-5, 0),
    ],
)
def test_worked_examples_of_the_guide(
    low: float, high: float, emin: float, emax: float, delta: float, offset: int
) -> None:
    encoding = Encoding.from_range(low, high)
    assert encoding.offset == offset
    np.testing.assert_allclose((encoding.min, encoding.max), (emin, emax), atol=1e-6)
    np.testing.assert_allclose(encoding.delta, delta, rtol=1e-4)


def test_official_example_codes_and_values() -> None:
    encoding = Encoding.from_range(-1.8, 0.5)
    codes = encoding.quantize(np.array([-1.8, -1.0, 0.0, 0.5], np.float32))
    assert codes.tolist() == [0, 89, 200, 255]
    np.testing.assert_allclose(
        encoding.dequantize(codes), [-1.8039, -1.0011765, 0.0, 0.4961], atol=1e-4
    )


def test_values_past_the_shifted_end_saturate() -> None:
    assert Encoding.from_range(-5.1, 5.1).quantize(np.array([5.1, 99.0])).tolist() == [255, 255]


def test_tiny_range_depends_on_the_release() -> None:
    encoding = Encoding.from_range(-0.001, 0.001, minimum_range=1e-4)
    assert encoding.offset == -128
    np.testing.assert_allclose((encoding.min, encoding.max), (-0.00100392, 0.00099608), atol=1e-8)


def test_symmetric_codes_are_signed_with_zero_point_zero() -> None:
    encoding = Encoding.symmetric_of(2.54)
    assert (encoding.offset, encoding.zero_point, encoding.dtype) == (-128, 0, np.int8)
    np.testing.assert_allclose((encoding.delta, encoding.min, encoding.max), (0.02, -2.56, 2.54))
    assert encoding.quantize(np.array([-9.0, -2.54, 0.0, 2.54])).tolist() == [-128, -127, 0, 127]


@given(low=reals, high=reals, bitwidth=st.sampled_from([4, 8, 16]))
def test_zero_is_exact_and_inner_error_below_half_a_step(
    low: float, high: float, bitwidth: int
) -> None:
    encoding = Encoding.from_range(min(low, high), max(low, high), bitwidth)
    assert encoding.dequantize(encoding.quantize(np.zeros(1))).item() == 0.0
    inside = np.linspace(encoding.min, encoding.max, 101)
    error = np.abs(
        encoding.quantize(inside).astype(float) - encoding.zero_point - inside / encoding.delta
    )
    assert error.max() <= 0.5 + 1e-6


@given(st.lists(st.floats(0.01, 100.0), min_size=1, max_size=5))
def test_axis_encoding_equals_its_channels(limits: list[float]) -> None:
    axis = AxisEncoding(tuple(Encoding.symmetric_of(limit) for limit in limits))
    x = np.linspace(-120, 120, 7 * len(limits)).reshape(7, len(limits))
    codes = axis.quantize(x)
    for channel, encoding in enumerate(axis.channels):
        np.testing.assert_array_equal(codes[:, channel], encoding.quantize(x[:, channel]))
    np.testing.assert_allclose(
        axis.dequantize(codes)[:, 0], axis.channels[0].dequantize(codes[:, 0])
    )


def test_axis_encoding_refuses_asymmetric_channels() -> None:
    with pytest.raises(ValueError, match="symmetric"):
        AxisEncoding((Encoding.from_range(0, 1),))


def test_the_codes_of_a_scalar_are_an_array() -> None:
    """What compiled code reads has to lie somewhere."""
    encoding = Encoding.from_range(0, 255)
    codes = encoding.quantize(np.float32(3.2))
    assert isinstance(codes, np.ndarray)
    assert (codes.shape, codes.dtype, int(codes)) == ((), np.uint8, 3)
    assert isinstance(encoding.dequantize(codes), np.ndarray)


def test_the_first_code_is_the_low_nibble() -> None:
    assert pack(np.array([10, 4], np.uint8), "tensor").tolist() == [0b0100_1010]


def test_signed_codes_are_twos_complement() -> None:
    assert pack(np.array([-1, -8, 7], np.int8), "tensor").tolist() == [0x8F, 0x07]


def test_27_codes_take_14_bytes_in_every_channel() -> None:
    codes = np.arange(27 * 2, dtype=np.uint8).reshape(3, 3, 3, 2) % 16
    packed = pack(codes, "channel")
    assert packed.size == packed_bytes(codes.shape, "channel") == 28
    np.testing.assert_array_equal(packed[:14], pack(codes[..., 0], "tensor"))
    np.testing.assert_array_equal(packed[14:], pack(codes[..., 1], "tensor"))
    assert packed[13] < 16


@pytest.mark.parametrize("dtype", [np.int8, np.uint8])
@pytest.mark.parametrize("runs", ["tensor", "channel"])
@given(st.lists(st.integers(1, 5), min_size=1, max_size=4), st.integers(0, 2**32 - 1))
def test_codes_come_back(dtype: type, runs: Runs, shape: list[int], seed: int) -> None:
    low = -8 if dtype is np.int8 else 0
    codes = np.random.default_rng(seed).integers(low, low + 16, shape).astype(dtype)
    packed = pack(codes, runs)
    assert packed.size == packed_bytes(tuple(shape), runs)
    again = unpack(packed, tuple(shape), runs, dtype)
    assert again.dtype == dtype
    np.testing.assert_array_equal(again, codes)


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
