"""Sum, difference, product, maximum, concat and requantise: the codes of Hexagon NN."""

import numpy as np
import pytest

from hexsim.layers import Concat, Elementwise, Reshape
from tests.hexagon_nn.through import result_codes
from tests.hexagon_nn.vectors import cases

KINDS = {"v60_add": "sum", "v60_sub": "sub", "v60_mul": "product", "v60_max": "max"}


def layer_of(name, case):
    if name == "v60_concat":
        return Concat(name="c", inputs=("a", "b"), outputs=("y",), axis=3)
    if name == "v60_requant8":
        shape = case["a"].shape
        return Reshape(name="r", inputs=("a",), outputs=("y",), shape=shape)
    return Elementwise(name="e", inputs=("a", "b"), outputs=("y",), kind=KINDS[name])


@pytest.mark.parametrize("name", [*KINDS, "v60_concat", "v60_requant8"])
def test_codes_are_those_of_the_library(name):
    for case in cases(name):
        codes = result_codes(layer_of(name, case), case)
        np.testing.assert_array_equal(codes, case["library"])
