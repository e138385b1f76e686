"""Layers with weights: the codes of Hexagon NN, through lowering and kernels."""

from dataclasses import replace

import numpy as np
import pytest

from hexsim.layers import Convolution, FullyConnected, Window
from hexsim.quantization.encodings import Encoding
from tests.hexagon_nn.vectors import cases
from tests.int8.single_layer import codes_of, lowered, quantized

DIFFERENT = {
    "v60_conv": 0,
    "v60_bigconv": 0,
    "v60_dw": 0,
    "v60_inconv": 0,
    "v60_fc": 0,
    "v65_conv_signed": 0,
    "v65_dw": 0,
    "v65_inconv": 0,
    "v65_fc": 0,
}


def encoding(stated):
    delta, zero = float(stated[0]), int(stated[1])
    return Encoding(8, -zero * delta, (255 - zero) * delta, delta, -zero)


def layer_of(case):
    """The layer of a case and its weights' codes as hexsim stores them."""
    fields = {"name": "layer", "inputs": ("x",), "outputs": ("y",), "weight": "w", "bias": "b"}
    codes = case["w"]
    if codes.ndim == 2:
        return FullyConnected(**fields, output_channels=codes.shape[1]), codes
    groups = 1
    if codes.shape[3] == 1 < codes.shape[2] and case["bias"].size == codes.shape[2]:
        groups, codes = codes.shape[2], codes.transpose(0, 1, 3, 2)
    stride = int(case.get("stride", 1))
    window = Window(codes.shape[:2], (stride, stride), tuple(map(int, case.get("pad", (0,) * 4))))
    return Convolution(
        **fields, window=window, groups=groups, output_channels=codes.shape[3]
    ), codes


def results(case, *, signed):
    """The codes that hexsim computes for a case."""
    layer, codes = layer_of(case)
    x, w, y = (encoding(case[name]) for name in ("xe", "we", "ye"))
    constants = {
        "w": w.dequantize(codes),
        "b": (case["bias"] * float(case["bias_step"])).astype(np.float32),
    }
    model = quantized([layer], {"x": case["x"].shape}, constants, {"x": x, "y": y}, ["y"])
    model = replace(model, parameters={"w": w})
    np.testing.assert_array_equal(model.codes("w"), codes)
    subnet, calls = lowered(model, signed_weights=signed)
    return codes_of(subnet, calls, {"x": x.dequantize(case["x"])})["y"].reshape(
        case["library"].shape
    )


@pytest.mark.parametrize("name", DIFFERENT)
def test_codes_equal_those_of_the_library(name):
    different = elements = 0
    for case in cases(name):
        found = results(case, signed=name.startswith("v65"))
        off = np.abs(found.astype(int) - case["library"].astype(int))
        print(name, off.size, (off>0).sum(), off.max())
        different += np.count_nonzero(off)
        elements += off.size
    print(name, elements, different)
    assert different == DIFFERENT[name]
