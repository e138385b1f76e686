"""Softmax: every code of Hexagon NN (V60)."""

import numpy as np

from hexsim.layers import Softmax
from hexsim.lowering.normalization import coefficients, softmax_tables
from tests.hexagon_nn.through import result_codes
from tests.hexagon_nn.vectors import cases


def test_codes_of_the_library():
    layer = Softmax(name="layer", inputs=("x",), outputs=("y",), axes=(3,))
    for case in cases("v60_softmax"):
        np.testing.assert_array_equal(result_codes(layer, case), case["library"])


def test_first_and_last_piece():
    ends = [numbers[[0, 15]].tolist() for numbers in coefficients()]
    assert ends == [[32767, 17109], [-22709, -11857], [7703, 4022]]


def test_tables_are_powers():
    """Within 2^-14 of exp(-delta * d): the polynomials, and the 15 bits of the scale."""
    for delta in (1e-9, 1e-3, 0.02, 0.3, 2.0, 200.0):
        powers, shares, sum_bits = softmax_tables(delta, 1000)
        exact = np.exp(-delta * np.arange(256.0))
        assert sum_bits == 10
        assert np.abs(powers / 2.0**21 - exact).max() <= 2.0**-14
        assert np.abs(shares / 2.0**15 - exact).max() <= 2.0**-14
