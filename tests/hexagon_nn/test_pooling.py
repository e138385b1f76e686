"""Average and maximum pooling give the codes that Hexagon NN gave."""

import numpy as np
import pytest

from hexsim.layers import Pooling, Window
from tests.hexagon_nn import vectors
from tests.hexagon_nn.through import result_codes


def pooled(case, kind):
    height, width = case["kernel"].tolist()
    stride, pads = int(case["stride"]), tuple(case["pad"].tolist())
    window = Window((height, width), (stride, stride), pads)
    layer = Pooling(name="pool", inputs=("x",), outputs=("y",), kind=kind, window=window)
    return result_codes(layer, case)


@pytest.mark.parametrize("number", range(24))
def test_average(number):
    case = vectors.cases("v60_avgpool")[number]
    np.testing.assert_array_equal(pooled(case, "average"), case["library"])


@pytest.mark.parametrize("number", range(24))
def test_maximum(number):
    case = vectors.cases("v60_maxpool")[number]
    np.testing.assert_array_equal(pooled(case, "max"), case["library"])
