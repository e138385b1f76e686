"""Infinite numbers of masks become finite, and nothing else changes."""

from collections.abc import Callable

import numpy as np
import onnx
import pytest
from onnx import helper

from hexsim.onnx_io.infinities import LARGEST
from hexsim.onnx_io.reader import read_with_codes

Make = Callable[..., onnx.ModelProto]
MASK = np.where(np.tri(4), 0.0, -np.inf)


def test_a_masked_softmax_is_the_same(onnx_model: Make, agree: Callable) -> None:
    nodes = [
        helper.make_node("Add", ["x", "mask"], ["a"]),
        helper.make_node("Softmax", ["a"], ["y"], axis=-1),
    ]
    model = onnx_model(nodes, {"x": (1, 2, 4, 4)}, ["y"], {"mask": MASK})
    agree(model)
    found = read_with_codes(model)
    assert found.report.notes == (
        f"6 infinite numbers of constant 'mask' become {LARGEST:g} with their sign",
    )
    arrays = [constant.value() for constant in found.network.constants.values()]
    assert all(np.isfinite(array).all() for array in arrays)


@pytest.mark.parametrize("operator", ["Sub", "Where"])
def test_other_operators(operator: str, onnx_model: Make) -> None:
    inputs = ["b", "inf", "x"] if operator == "Where" else ["x", "inf"]
    nodes = [
        helper.make_node("Cast", ["x"], ["b"], to=onnx.TensorProto.BOOL),
        helper.make_node(operator, inputs, ["y"]),
    ]
    found = read_with_codes(onnx_model(nodes, {"x": (3, 4)}, ["y"], {"inf": np.inf}))
    values = [constant.value() for constant in found.network.constants.values()]
    assert [float(value.reshape(-1)[0]) for value in values] == [LARGEST]


def test_bounds_stay_infinite(onnx_model: Make, agree: Callable) -> None:
    nodes = [helper.make_node("Min", ["x", "inf"], ["y"])]
    model = onnx_model(nodes, {"x": (3, 4)}, ["y"], {"inf": np.inf})
    assert not read_with_codes(model).report.notes
    agree(model)
