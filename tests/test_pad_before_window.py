"""A Pad that is a node of its own holds its value, whatever the window behind it pads with.

The padding of a maximum pooling is minus infinity and that of an average is not counted, so zeros
in front of either are no padding of its own. The values have to be those of ONNX's definition,
written out here window by window, in float and in integers.
"""

import itertools
from pathlib import Path

import numpy as np
import onnx
import onnx.helper as h
import pytest

import hexsim
from hexsim.graph.ir import FloatArray

X = -1 - np.random.default_rng(0).random((1, 3, 6, 6), np.float32)
"""Negative only: zeros around it are larger than all of it."""


def _model(path: Path, operator: str, value: float, attributes: dict[str, object]) -> Path:
    """A convolution that changes nothing, a Pad of 1 around height and width, and `operator`."""
    single = onnx.TensorProto.FLOAT
    constants = [
        h.make_tensor("pads", onnx.TensorProto.INT64, [8], [0, 0, 1, 1, 0, 0, 1, 1]),
        h.make_tensor("value", single, [], [value]),
        onnx.numpy_helper.from_array(np.eye(3, dtype=np.float32)[..., None, None], "eye"),
        onnx.numpy_helper.from_array(np.ones((3, 1, 2, 2), np.float32), "ones"),
    ]
    more = {"Conv": ["ones"]}.get(operator, [])
    nodes = [
        h.make_node("Conv", ["x", "eye"], ["same"]),
        h.make_node("Pad", ["same", "pads", "value"], ["padded"]),
        h.make_node(operator, ["padded", *more], ["y"], **attributes),
    ]
    inputs = [h.make_tensor_value_info("x", single, X.shape)]
    outputs = [h.make_tensor_value_info("y", single, None)]
    graph = h.make_graph(nodes, "g", inputs, outputs, constants)
    model = h.make_model(graph, opset_imports=[h.make_opsetid("", 17)], ir_version=8)
    onnx.save(model, path)
    return path


def _reference(
    operator: str, value: float, size: int, step: int, own: int, counted: bool
) -> FloatArray:
    """Every window by itself; its `own` padding is NaN where it is to be left out."""
    padded = np.pad(X, ((0, 0), (0, 0), (1, 1), (1, 1)), constant_values=value)
    outside = 0.0 if counted or operator == "Conv" else np.nan
    padded = np.pad(padded, ((0, 0), (0, 0), (own, own), (own, own)), constant_values=outside)
    reduce = {"MaxPool": np.nanmax, "AveragePool": np.nanmean, "Conv": np.nansum}[operator]
    count = (padded.shape[2] - size) // step + 1
    result = np.empty((1, 3, count, count), np.float32)
    for channel, row, column in itertools.product(range(3), range(count), range(count)):
        top, left = row * step, column * step
        result[0, channel, row, column] = reduce(
            padded[0, channel, top : top + size, left : left + size]
        )
    return result


@pytest.mark.parametrize("value", [0.0, -5.0])
@pytest.mark.parametrize(
    ("operator", "size", "step", "own", "counted"),
    [
        ("MaxPool", 2, 2, 0, False),
        ("MaxPool", 3, 2, 1, False),
        ("AveragePool", 2, 2, 0, False),
        ("AveragePool", 3, 2, 1, False),
        ("AveragePool", 3, 2, 1, True),
        ("Conv", 2, 2, 0, False),
        ("Conv", 2, 1, 1, False),
    ],
)
def test_a_pad_keeps_its_value(
    tmp_path: Path, operator: str, size: int, step: int, own: int, counted: bool, value: float
) -> None:
    attributes: dict[str, object] = {
        "kernel_shape": [size] * 2,
        "strides": [step] * 2,
        "pads": [own] * 4,
    }
    if operator == "AveragePool":
        attributes["count_include_pad"] = int(counted)
    if operator == "Conv":
        attributes["group"] = 3
    network = hexsim.load(_model(tmp_path / "m.onnx", operator, value, attributes))
    expected = _reference(operator, value, size, step, own, counted)
    span = float(np.ptp(expected))
    for runtime, tolerance in (("cpu", 1e-6), ("gpu", 2e-3)):
        outputs = hexsim.simulate(network, "sd855", runtime, X).outputs  # type: ignore[arg-type]
        assert outputs is not None
        np.testing.assert_allclose(outputs["y"], expected, rtol=tolerance)
    coded = hexsim.quantize(network, [X])
    for runtime in ("dsp", "aip", "fxp_cpu"):
        outputs = hexsim.simulate(coded, "sd855", runtime, X).outputs  # type: ignore[arg-type]
        assert outputs is not None
        np.testing.assert_allclose(outputs["y"], expected, atol=0.02 * span)
