"""The float engine: precisions against numpy, determinism, and what it refuses."""

import numpy as np
import pytest

from hexsim.errors import HexsimError
from hexsim.graph.ir import Constant, Layer, Network, Tensor
from hexsim.layers import RELU, Convolution, FullyConnected, Opaque, Window
from hexsim.onnx_io.float_engine import FloatEngine, Precision

rng = np.random.default_rng(5)
WEIGHT = rng.standard_normal((12, 8)).astype(np.float32)
BIAS = rng.standard_normal(8).astype(np.float32)
X = rng.standard_normal((3, 12)).astype(np.float32)


def _network(weight: np.ndarray = WEIGHT) -> Network:
    layer = FullyConnected(
        name="f",
        inputs=("x",),
        outputs=("y",),
        weight="w",
        bias="b",
        clamp=RELU,
        output_channels=8,
    )
    return Network(
        "fc",
        (layer,),
        {"x": Tensor("x", (3, 12)), "y": Tensor("y", (3, 8))},
        {"w": Constant("w", (12, 8), weight), "b": Constant("b", (8,), BIAS)},
        ("x",),
        ("y",),
    )


def _half(array: np.ndarray) -> np.ndarray:
    return array.astype(np.float16).astype(np.float32)


def _run(precision: Precision, network: Network | None = None) -> np.ndarray:
    return FloatEngine(network or _network(), precision=precision).run({"x": X})["y"]


def test_single() -> None:
    np.testing.assert_allclose(_run("float32"), np.maximum(X @ WEIGHT + BIAS, 0), atol=1e-5)


def test_half_storage_rounds_what_is_stored_and_nothing_else() -> None:
    exact = np.maximum(_half(X) @ _half(WEIGHT) + _half(BIAS), 0)
    y = _run("half_storage")
    assert np.array_equal(y, _half(y))
    np.testing.assert_allclose(y, exact, rtol=2**-11, atol=1e-5)
    assert not np.array_equal(y, _run("float32"))


def test_float16_rounds_the_sum_before_the_bias() -> None:
    exact = np.maximum(_half(_half(_half(X) @ _half(WEIGHT)) + _half(BIAS)), 0)
    y = _run("float16")
    assert np.array_equal(y, _half(y))
    assert np.mean(y == exact) > 0.9  # the sum itself may fall on either side of a rounding step
    np.testing.assert_allclose(y, exact, rtol=2**-9, atol=1e-3)


def test_what_half_cannot_hold_becomes_infinite() -> None:
    weight = WEIGHT.copy()
    weight[0] = 1e6
    y = _run("half_storage", _network(weight))
    assert np.array_equal(np.isinf(y), np.broadcast_to(X[:, :1] > 0, y.shape))


@pytest.mark.parametrize("threads", [1, 2])
def test_equal_inputs_give_equal_bytes(threads: int) -> None:
    weight = rng.standard_normal((3, 3, 16, 32)).astype(np.float32)
    layer = Convolution(
        name="c",
        inputs=("x",),
        outputs=("y",),
        weight="w",
        window=Window((3, 3)),
        output_channels=32,
    )
    network = Network(
        "conv",
        (layer,),
        {"x": Tensor("x", (2, 20, 20, 16)), "y": Tensor("y", (2, 18, 18, 32))},
        {"w": Constant("w", weight.shape, weight)},
        ("x",),
        ("y",),
    )
    x = {"x": rng.standard_normal((2, 20, 20, 16)).astype(np.float32)}
    first, two = (FloatEngine(network, threads=threads).run(x)["y"].tobytes() for _ in range(2))
    assert first == two


def test_an_input_can_be_an_output() -> None:
    network = _network()
    values = FloatEngine(network, outputs=["x", "y"]).run({"x": X})
    assert np.array_equal(values["x"], X)


def test_tensors_that_are_no_floats_keep_their_type() -> None:
    network = Network("n", (_shape_of(),), _shape_tensors(), {}, ("x",), ("y",))
    y = FloatEngine(network).run({"x": X})["y"]
    assert y.dtype == np.int64
    assert y.tolist() == [3, 12]


def test_what_onnxruntime_refuses_is_reported_in_one_sentence() -> None:
    layer = _shape_of().replace(node=_node("NoSuchOperator"))
    network = Network("odd", (layer,), _shape_tensors(), {}, ("x",), ("y",))
    with pytest.raises(HexsimError, match="onnxruntime cannot run network 'odd'") as caught:
        FloatEngine(network)
    assert "\n" not in str(caught.value)


def _node(operator: str) -> bytes:
    from onnx import helper

    return helper.make_node(operator, ["x"], ["y"]).SerializeToString()


def _shape_of() -> Layer:
    return Opaque(
        name="s",
        inputs=("x",),
        outputs=("y",),
        op_type="Shape",
        node=_node("Shape"),
        shapes=((2,),),
    )


def _shape_tensors() -> dict[str, Tensor]:
    return {"x": Tensor("x", (3, 12)), "y": Tensor("y", (2,), dtype="int64")}


def test_nothing_asked_is_nothing_run() -> None:
    """As when a network is calibrated that has no float tensor."""
    assert FloatEngine(_network(), outputs=()).run({"x": X}) == {}
    assert list(FloatEngine(_network(), outputs=("x",)).run({"x": X})) == ["x"]
