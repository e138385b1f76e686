"""Batch norm: the codes of Hexagon NN, but for how it makes its bias."""

import numpy as np

from hexsim.layers import BatchNorm
from tests.hexagon_nn.through import encoding, result_codes
from tests.hexagon_nn.vectors import cases

LAYER = BatchNorm(name="layer", inputs=("x",), outputs=("y",), scale="scale", shift="shift")
KNOWN = 6
"""Elements one code off, of 60 736: the library has the bias in 32-bit codes of its own range and
brings them to the step of the sum by a 15-bit factor; a file gives hexsim the bias itself."""


def test_codes_of_the_library():
    wrong = 0
    for case in cases("v60_bn"):
        scales = encoding(*case["se"])
        constants = {
            "scale": scales.dequantize(case["scale"]),
            "shift": (case["shift"] * float(case["shift_step"])).astype(np.float32),
        }
        codes = result_codes(LAYER, case, constants, {"scale": scales})
        differences = np.abs(codes.astype(int) - case["library"])
        assert differences.max() <= 1
        wrong += np.count_nonzero(differences)
    assert wrong == KNOWN


def test_a_scale_without_encoding_is_as_near():
    """Half a code, and what factors of 16 bits (255 / 2^15) and rs of 15 bits (255 / 2^15) add."""
    for case in cases("v60_bn"):
        scales, x = encoding(*case["se"]), encoding(*case["xe"])
        scale = scales.dequantize(case["scale"]) * np.float32(0.7391)
        shift = (case["shift"] * float(case["shift_step"])).astype(np.float32)
        low, high = map(float, case["out_min_max"])
        delta = (high - low) / 255
        exact = x.dequantize(case["x"]).astype(np.float64) * scale + shift
        exact = np.clip(exact / delta + round(-low / delta), 0, 255)
        codes = result_codes(LAYER, case, {"scale": scale, "shift": shift})
        assert np.abs(codes - exact).max() <= 0.5 + 2 * 255 / 2**15
