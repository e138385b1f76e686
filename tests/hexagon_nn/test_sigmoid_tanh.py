"""Sigmoid and tanh: every code of Hexagon NN, and the coefficients of its polynomials."""

import numpy as np
import pytest

from hexsim.layers import Neuron
from hexsim.lowering.lookup import _neuron_codes
from hexsim.lowering.lowered_call import Operand
from hexsim.lowering.sigmoid_tanh import coefficients
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
@pytest.mark.parametrize("output", [(0.003, 128), (0.0081, 100), (0.02, 0), (4e-5, 0)])
def test_other_encodings_have_the_exact_function(function, step, output):
    """Within half a code, also where the polynomials would have ended."""
    x, y = encoding(step, 119), encoding(*output)
    layer = Neuron(name="layer", inputs=("x",), outputs=("y",), function=function)
    codes = _neuron_codes(layer, Operand("x", (256,), x), y).astype(int)
    reals = (np.arange(256) - 119) * step
    exact = 1 / (1 + np.exp(-reals)) if function == "sigmoid" else np.tanh(reals)
    errors = np.abs((codes - output[1]) * output[0] - np.clip(exact, y.min, y.max))
    assert errors.max() <= output[0] / 2 * (1 + 1e-9)


def test_scores_at_rest_keep_their_differences():
    """A wake word's logits of -12 to -8, in an encoding of 0 to 0.01."""
    layer = Neuron(name="layer", inputs=("x",), outputs=("y",), function="sigmoid")
    x, y = encoding(12.5 / 255, 255), encoding(0.0004 / 255, 0)
    codes = _neuron_codes(layer, Operand("x", (256,), x), y)
    assert len(set(codes[:100].tolist())) > 50
