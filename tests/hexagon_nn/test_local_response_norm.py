"""Local response norm: every code of Hexagon NN, and the coefficients of its logarithm."""

import numpy as np
import pytest

from hexsim.layers import LocalResponseNorm
from hexsim.lowering.local_response_norm import logarithm_parabolas
from tests.hexagon_nn import vectors
from tests.hexagon_nn.through import result_codes
from tests.int8 import naive

SIZE, BETA = 5, 0.75
ALPHA_BIAS = (
    (0.01, 2), (5e-5, 1), (1.0, 1), (0.01, 1), (0.01, 2), (1e-4, 2), (1.0, 1), (1e-4, 2),
    (0.01, 1), (1.0, 2), (5e-5, 2), (1.0, 1), (5e-5, 2), (1e-4, 2), (1e-4, 1), (1e-4, 2),
    (0.01, 2), (5e-5, 1), (0.01, 2), (5e-5, 2), (1.0, 1), (5e-5, 1), (5e-5, 1), (5e-5, 1),
)  # fmt: skip
"""Of each case, as the library's output range, a function of them, tells."""


@pytest.mark.parametrize("number", range(24))
def test_codes_of_the_library(number):
    case = vectors.cases("v60_lrn")[number]
    alpha, bias = ALPHA_BIAS[number]
    layer = LocalResponseNorm(
        name="n", inputs=("x",), outputs=("y",), size=SIZE, alpha=alpha, beta=BETA, bias=bias
    )
    np.testing.assert_array_equal(result_codes(layer, case), case["library"])


def test_first_and_last_piece_of_the_logarithm():
    """The library's own, but for 23622 and -5561 in the first."""
    ends = [numbers[[0, 15]].tolist() for numbers in logarithm_parabolas()]
    assert ends == [[0, 31267], [23621, 12198], [-5560, -1525]]


def test_logarithms_are_near():
    place = np.arange(1 << 15)
    values = [naive.parabola(logarithm_parabolas(), p, 2) for p in place.tolist()]
    assert min(values) >= 0
    assert max(values) < 1 << 15
    assert np.abs(values - 2**15 * np.log2(1 + place / 2**15)).max() < 1.7
