"""Layers with weights: the codes of Hexagon NN, through lowering and kernels.

The library computes the preload in single precision, hexsim in double precision: it may be one
unit of the accumulator less or more. That changes a code only next to a tie between two codes.
"""

from dataclasses import replace

import numpy as np
import pytest

from hexsim.layers import Convolution, FullyConnected, Window
from hexsim.lowering.products import LoweredConvolution
from tests.hexagon_nn.through import encoding
from tests.hexagon_nn.vectors import cases
from tests.int8.single_layer import codes_of, lowered, quantized

DIFFERENT = {
    "v60_conv": 0,
    "v60_bigconv": 0,
    "v60_dw": 0,
    "v60_inconv": 2,
    "v60_fc": 0,
    "v65_conv_signed": 2,
    "v65_dw": 0,
    "v65_inconv": 11,
    "v65_fc": 0,
}
"""Codes of each set that differ, all by one."""


def layer_of(case):
    """The layer of a case, and the codes of its weights in the order in which hexsim has them."""
    fields = {"name": "layer", "inputs": ("x",), "outputs": ("y",), "weight": "w", "bias": "b"}
    codes, groups = case["w"], 1
    if codes.ndim == 2:
        return FullyConnected(**fields, output_channels=codes.shape[1]), codes
    if codes.shape[3] == 1:
        groups, codes = codes.shape[2], codes.transpose(0, 1, 3, 2)
    step = int(case.get("stride", 1))
    window = Window(codes.shape[:2], (step, step), tuple(map(int, case.get("pad", (0,) * 4))))
    outputs = codes.shape[3]
    return Convolution(**fields, window=window, groups=groups, output_channels=outputs), codes


def lowered_case(case, *, signed):
    """The subnet of a case, its call and its input as real numbers."""
    layer, codes = layer_of(case)
    x, w, y = (encoding(*case[name]) for name in ("xe", "we", "ye"))
    bias = (case["bias"] * float(case["bias_step"])).astype(np.float32)
    constants = {"w": w.dequantize(codes), "b": bias}
    model = quantized([layer], {"x": case["x"].shape}, constants, {"x": x, "y": y}, ["y"])
    model = replace(model, parameters={"w": w})
    np.testing.assert_array_equal(model.codes("w"), codes)
    subnet, (call,) = lowered(model, signed_weights=signed)
    return subnet, call, {"x": x.dequantize(case["x"])}


@pytest.mark.parametrize("name", DIFFERENT)
def test_codes_equal_those_of_the_library(name):
    different = 0
    for case in cases(name):
        subnet, call, feed = lowered_case(case, signed=name.startswith("v65"))
        expected = case["library"].reshape(call.output.shape)
        answered = codes_of(subnet, (call,), feed)["y"]
        (places,) = np.nonzero((answered != expected).ravel())
        different += len(places)
        if len(places):
            neighbours = [_with_preload(subnet, call, feed, more) for more in (-1, 1)]
            reached = [(codes == expected).ravel()[places] for codes in neighbours]
            assert np.any(reached, axis=0).all()
    assert different == DIFFERENT[name]


def _with_preload(subnet, call, feed, more):
    """The codes with another preload."""
    changed = replace(call, stage=replace(call.stage, preload=call.stage.preload + np.int32(more)))
    return codes_of(subnet, (changed,), feed)["y"]


def test_only_dense_convolutions_of_more_than_four_channels_have_signed_weights():
    kinds = {}
    for name in ("v65_conv_signed", "v65_dw", "v65_inconv", "v65_fc"):
        _, call, _ = lowered_case(cases(name)[0], signed=True)
        kinds[name] = call.weights.codes.dtype
        assert isinstance(call, LoweredConvolution) is (name != "v65_fc")
    assert kinds.pop("v65_conv_signed") == np.int8
    assert set(kinds.values()) == {np.dtype(np.uint8)}
