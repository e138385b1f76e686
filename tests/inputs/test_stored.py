"""A user's arrays become inputs in stored order, or are refused by name."""

from dataclasses import replace

import numpy as np
import pytest

from hexsim.errors import HexsimError
from hexsim.graph.ir import Network, Tensor
from hexsim.graph.network_ends import InputFormat
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


@pytest.mark.parametrize("shape", [(), (1,), (1, 1)])
def test_a_scalar_has_any_shape_of_one_element(shape: tuple[int, ...]) -> None:
    """As for onnxruntime."""
    network = replace(NETWORK, tensors={"s": Tensor("s", ())}, inputs=("s",))
    assert stored_inputs(network, {"s": np.full(shape, 2.5)})["s"].shape == ()
    with pytest.raises(HexsimError, match="'s' has shape 2, the model expects scalar"):
        stored_inputs(network, {"s": np.ones(2)})


def test_values_of_an_image_are_bytes() -> None:
    """The DSP would cut them: they are codes themselves."""
    network = replace(NETWORK, input_formats={"flat": InputFormat("image")})
    assert stored_inputs(network, {"x": X, "flat": FLAT})["flat"].dtype == np.float32
    for wrong in (0.5, -1.0, 256.0):
        with pytest.raises(HexsimError, match=rf"^input 'flat' holds {wrong:g}, but .* 0 to 255"):
            stored_inputs(network, {"x": X, "flat": np.full((1, 6), wrong)})


def test_integers_keep_digits_that_float32_loses() -> None:
    tensors = {**NETWORK.tensors, "flat": Tensor("flat", (1, 6), dtype="int64")}
    numbers = 2**53 + 1 + np.arange(6).reshape(1, 6)
    got = stored_inputs(replace(NETWORK, tensors=tensors), {"x": X, "flat": numbers})["flat"]
    assert got.dtype == np.int64
    assert got.tolist() == numbers.tolist()
