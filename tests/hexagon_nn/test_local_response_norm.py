"""Local response norm is at most one code from what Hexagon NN gave.

The library computes logarithm and power by pieces of quadratic polynomials with coefficients of
16 bits; the contract's table is finer. The numbers of elements that differ are listed.
"""

import numpy as np
import pytest

from hexsim.layers import LocalResponseNorm
from tests.hexagon_nn import vectors
from tests.hexagon_nn.through import result_codes

SIZE, BETA = 5, 0.75
ALPHA_BIAS = (
    (0.01, 2), (5e-5, 1), (1.0, 1), (0.01, 1), (0.01, 2), (1e-4, 2), (1.0, 1), (1e-4, 2),
    (0.01, 1), (1.0, 2), (5e-5, 2), (1.0, 1), (5e-5, 2), (1e-4, 2), (1e-4, 1), (1e-4, 2),
    (0.01, 2), (5e-5, 1), (0.01, 2), (5e-5, 2), (1.0, 1), (5e-5, 1), (5e-5, 1), (5e-5, 1),
)  # fmt: skip
"""Of each case, as the library's output range, a function of them, tells."""
ONE_CODE_OFF = {0: 3, 2: 49, 6: 90, 8: 6, 10: 8, 17: 1, 18: 10, 20: 62, 23: 4}


@pytest.mark.parametrize("number", range(24))
def test_differences(number):
    case = vectors.cases("v60_lrn")[number]
    alpha, bias = ALPHA_BIAS[number]
    layer = LocalResponseNorm(
        name="n", inputs=("x",), outputs=("y",), size=SIZE, alpha=alpha, beta=BETA, bias=bias
    )
    off = np.abs(result_codes(layer, case).astype(int) - case["library"])
    assert off.max() <= 1
    assert np.count_nonzero(off) == ONE_CODE_OFF.get(number, 0)
