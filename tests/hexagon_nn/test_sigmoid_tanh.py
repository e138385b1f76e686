"""Sigmoid and tanh: every code of Hexagon NN, and the coefficients of its polynomials."""

import numpy as np
import pytest

from hexsim.layers import Neuron
from hexsim.lowering.functions import coefficients
from tests.hexagon_nn.through import result_codes
from tests.hexagon_nn.vectors import cases


@pytest.mark.parametrize("function", ["sigmoid", "tanh"])
def test_codes_of_the_library(function):
    layer = Neuron(name="layer", inputs=("x",), outputs=("y",), function=function)
    for case in cases(f"v60_{function}"):
        np.testing.assert_array_equal(result_codes(layer, case), case["library"])


def test_coefficients_do_not_depend_on_rounding_noise():
    """Each lies at least 0.005 from where it would round to another integer, so any solver of
    least squares gives the same ones; the first and the last pieces are stated here."""
    knots, slopes, bends = coefficients("tanh")
    assert (
        knots[[0, 1, 15]].tolist(),
        slopes[[0, 1, 15]].tolist(),
        bends[[0, 1, 15]].tolist(),
    ) == (
        [0, 6418, 32351],
        [26172, 25098, 254],
        [-7994, -21652, -677],
    )
