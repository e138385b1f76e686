"""Sigmoid and tanh: every code of Hexagon NN, and the coefficients of its polynomials."""

import numpy as np
import pytest

from hexsim.layers import Neuron
from hexsim.lowering.lowered_call import Operand
from hexsim.lowering.sigmoid_tanh import coefficients, squashed_codes
from tests.hexagon_nn.through import encoding, result_codes
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


@pytest.mark.parametrize("function", ["sigmoid", "tanh"])
@pytest.mark.parametrize("step", [1e-4, 0.02, 0.3, 5.0])
@pytest.mark.parametrize("output", [(0.003, 128), (0.0081, 100), (0.02, 0)])
def test_other_encodings_are_as_near(function, step, output):
    """Within half a code and 0.45 of a step of Hexagon NN: the polynomials end at 3.2 and 6.4,
    where the functions are still 0.43 of such a step away from their limits."""
    x, y = encoding(step, 119), encoding(*output)
    codes = squashed_codes(function, Operand("x", (256,), x), y).astype(int)
    reals = (np.arange(256) - 119) * step
    exact = 1 / (1 + np.exp(-reals)) if function == "sigmoid" else np.tanh(reals)
    errors = np.abs((codes - output[1]) * output[0] - np.clip(exact, y.min, y.max))
    own = 1 / 255 if function == "sigmoid" else 1 / 127
    assert errors.max() <= output[0] / 2 + 0.45 * own
