"""A user's arrays become inputs in stored order, or are refused by name."""

import numpy as np
import pytest

from hexsim.errors import HexsimError
from hexsim.graph.ir import Network, Tensor
from hexsim.inputs.stored import stored_inputs

NETWORK = Network(
    "two",
    (),
    {"x": Tensor("x", (1, 4, 5, 3), (0, 2, 3, 1)), "flat": Tensor("flat", (1, 6))},
    {},
    ("x", "flat"),
    (),
)
X = np.arange(60, dtype=np.float64).reshape(1, 3, 4, 5)
FLAT = np.arange(6, dtype=np.uint8).reshape(1, 6)


def test_axes_are_those_of_the_network_and_values_float32() -> None:
    got = stored_inputs(NETWORK, {"flat": FLAT, "x": X})
    assert list(got) == ["x", "flat"], "in the network's order"
    assert {array.dtype for array in got.values()} == {np.dtype(np.float32)}
    np.testing.assert_array_equal(got["x"], X.transpose(0, 2, 3, 1))
    np.testing.assert_array_equal(got["flat"], FLAT)


@pytest.mark.parametrize(
    ("arrays", "sentence"),
    [
        ({}, "'two' has the inputs x, flat; got none"),
        ({"x": X}, "has the inputs x, flat; got x"),
        ({"x": X, "flat": FLAT, "z": FLAT}, "got x, flat, z"),
        ({"x": X.transpose(0, 2, 3, 1), "flat": FLAT}, "'x' has shape 1x4x5x3, .* 1x3x4x5"),
        ({"x": X, "flat": np.float32(1)}, "'flat' has shape scalar, the model expects 1x6"),
        ({"x": X.astype(str), "flat": FLAT}, "'x' has dtype <U32; give numbers"),
        ({"x": X, "flat": np.full((1, 6), np.nan)}, "'flat' holds NaN or infinite values"),
    ],
)
def test_unusable_arrays_are_named(arrays: dict[str, np.ndarray], sentence: str) -> None:
    with pytest.raises(HexsimError, match=sentence):
        stored_inputs(NETWORK, arrays)
