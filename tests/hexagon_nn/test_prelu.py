"""PReLU and leaky ReLU: every code of Hexagon NN."""

import numpy as np

from hexsim.layers import Neuron, Prelu
from tests.hexagon_nn.through import result_codes
from tests.hexagon_nn.vectors import cases

LAYER = Prelu(name="layer", inputs=("x",), outputs=("y",), slope="slope")


def test_codes_of_the_library():
    for case in cases("v60_prelu"):
        codes = result_codes(LAYER, case, {"slope": case["slope"].astype(np.float32)})
        np.testing.assert_array_equal(codes, case["library"])


def test_a_leaky_relu_is_a_prelu_of_one_slope():
    for slope, case in zip((0.01, 0.2, 1.5, -0.3), cases("v60_prelu"), strict=False):
        layer = Neuron(name="l", inputs=("x",), outputs=("y",), function="leaky_relu", alpha=slope)
        slopes = np.full(case["x"].shape[-1], slope, np.float64)
        np.testing.assert_array_equal(
            result_codes(layer, case), result_codes(LAYER, case, {"slope": slopes})
        )
