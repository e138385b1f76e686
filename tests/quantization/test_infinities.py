"""Infinite numbers of masks become finite codes; in floats they stay what they are."""

from collections.abc import Callable

import numpy as np
import onnx
import pytest
from onnx import helper

from hexsim.errors import HexsimError
from hexsim.onnx_io.float_engine import FloatEngine
from hexsim.onnx_io.reader import read
from hexsim.passes import optimize
from hexsim.quantization.infinities import LARGEST, mask_notes, with_finite_masks
from hexsim.quantization.quantizer import quantize
from tests.deployed import deployed

Make = Callable[..., onnx.ModelProto]
MASK = np.where(np.tri(4), 0.0, -np.inf)
FEEDS = [{"x": np.random.default_rng(k).normal(size=(1, 4, 4, 2)).astype("f")} for k in range(3)]


def masked(onnx_model: Make) -> onnx.ModelProto:
    nodes = [
        helper.make_node("Add", ["x", "mask"], ["a"]),
        helper.make_node("Softmax", ["a"], ["y"], axis=-1),
    ]
    return onnx_model(nodes, {"x": (1, 2, 4, 4)}, ["y"], {"mask": MASK})


def test_a_masked_softmax_is_quantised(onnx_model: Make) -> None:
    network = optimize(read(masked(onnx_model)))
    assert any(np.isinf(one.value()).any() for one in network.constants.values())
    (note,) = mask_notes(network)
    assert note == f"6 infinite numbers of constant 'mask' become {LARGEST:g} with their sign"
    feeds = [
        {name: np.zeros(network.shape(name), np.float32) + k for name in network.inputs}
        for k in (-1, 0, 1)
    ]
    (expected,) = FloatEngine(network).run(feeds[2]).values()
    (found,) = deployed(quantize(network, feeds)).executor().run(feeds[2]).values()
    assert found.shape == expected.shape
    np.testing.assert_allclose(found, expected, atol=1 / 255)
    assert not found[expected == 0].any()


def test_what_is_not_infinite_is_left_alone(onnx_model: Make) -> None:
    nodes = [helper.make_node("Add", ["x", "c"], ["y"])]
    network = read(onnx_model(nodes, {"x": (3, 4)}, ["y"], {"c": np.float32(3e38)}))
    assert with_finite_masks(network) is network
    assert mask_notes(network) == ()


def test_an_infinite_factor_is_no_mask(onnx_model: Make) -> None:
    nodes = [helper.make_node("Mul", ["x", "c"], ["y"])]
    network = read(onnx_model(nodes, {"x": (3, 4)}, ["y"], {"c": np.inf}))
    assert mask_notes(network) == ()
    with pytest.raises(HexsimError, match="infinite"):
        quantize(network, [{"x": np.ones((3, 4), np.float32)}])
