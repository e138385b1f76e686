"""Bilinear resizing gives the codes that Hexagon NN gave."""

import numpy as np
import pytest

from hexsim.layers import Resize
from tests.hexagon_nn import vectors
from tests.hexagon_nn.through import result_codes


@pytest.mark.parametrize("number", range(24))
def test_bilinear(number):
    case = vectors.cases("v60_resize")[number]
    layer = Resize(
        name="resize", inputs=("x",), outputs=("y",), kind="bilinear",
        size=tuple(case["size"].tolist()),
        coordinates="align_corners" if case["align"] else "asymmetric",
    )  # fmt: skip
    np.testing.assert_array_equal(result_codes(layer, case), case["library"])
