"""Instance norm: the contract is next to the exact value, Hexagon NN up to 5 of its steps off.

The library takes its range from the data, with a zero that is no code, and scales by 16-bit
pseudo-floats. So its real values are compared, in steps of its range.
"""

import numpy as np
import pytest

from hexsim.layers import Normalization
from hexsim.quantization.encodings import Encoding
from tests.hexagon_nn import vectors
from tests.hexagon_nn.through import encoding
from tests.int8.single_layer import quantized, subnet_of

MOST_OFF = 5.1
"""Steps of the library's range."""


@pytest.mark.parametrize("number", range(21))
def test_differences(number):
    case = vectors.cases("v60_instnorm")[number]
    low, high = case["out_min_max"].tolist()
    step = (high - low) / 255
    library = low + step * case["library"]
    layer = Normalization(
        name="n", inputs=("x",), outputs=("y",), kind="deviation", axes=(1, 2), epsilon=1e-5
    )
    encodings = {"x": encoding(*case["xe"]), "y": Encoding.from_range(low, high)}
    real = encodings["x"].dequantize(case["x"]).astype(np.float32)
    model = quantized([layer], {"x": real.shape}, {}, encodings, ["y"])
    result = subnet_of(model).run({"x": real})["y"]
    deviation = real - real.mean((1, 2), keepdims=True)
    exact = deviation / np.sqrt(real.var((1, 2), keepdims=True) + 1e-5)
    inside = np.clip(exact, encodings["y"].min, encodings["y"].max)
    assert np.abs(result - inside).max() <= 0.51 * encodings["y"].delta
    assert 1 < np.abs(library - exact).max() / step < MOST_OFF
