"""Why per-channel weights exist: one scaled channel spoils a depthwise layer per tensor.

Features of the digits come from a random convolution and a random depthwise convolution; the
classifier behind them is trained. Dividing a channel of the first by 100 and multiplying its
depthwise filter by 100 leaves the float function as it is.
"""

from collections.abc import Callable

import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression

import hexsim
from hexsim.execution import PlanExecutor
from hexsim.graph.ir import Constant, Network, Tensor
from hexsim.host.float_execution import FloatEngine
from hexsim.layers import RELU, Convolution, FullyConnected, Window
from hexsim.platform import Platform
from hexsim.quantization.options import QuantizationOptions

CHANNELS, SCALED, TRAINED = 16, 3, 1000

Images = np.ndarray
Weights = dict[str, np.ndarray]


@pytest.fixture(scope="module")
def digits() -> tuple[Images, np.ndarray]:
    data = load_digits()
    return (data.images / 16).astype(np.float32)[:, None, :, :, None], data.target


@pytest.fixture(scope="module")
def weights(digits: tuple[Images, np.ndarray]) -> Weights:
    rng = np.random.default_rng(2)
    made = {
        "w1": rng.normal(0, 0.5, (3, 3, 1, CHANNELS)),
        "b1": rng.normal(0, 0.2, CHANNELS),
        "w2": rng.normal(0, 0.4, (3, 3, 1, CHANNELS)),
        "b2": rng.normal(0, 0.2, CHANNELS),
    }
    images, labels = digits
    features = FloatEngine(_network({**made, "w3": np.zeros((256, 10)), "b3": np.zeros(10)}), ["f"])
    seen = np.stack([features.run({"x": image})["f"].ravel() for image in images[:TRAINED]])
    classifier = LogisticRegression(max_iter=300, C=0.1).fit(seen, labels[:TRAINED])
    return {**made, "w3": classifier.coef_.T, "b3": classifier.intercept_}


def _network(weights: Weights) -> Network:
    window = Window((3, 3), (1, 1), (1, 1, 1, 1))
    layers = (
        Convolution(
            name="expand",
            inputs=("x",),
            outputs=("e",),
            weight="w1",
            bias="b1",
            window=window,
            clamp=RELU,
            output_channels=CHANNELS,
        ),
        Convolution(
            name="depthwise",
            inputs=("e",),
            outputs=("f",),
            weight="w2",
            bias="b2",
            window=Window((3, 3), (2, 2), (1, 1, 1, 1)),
            groups=CHANNELS,
            clamp=RELU,
            output_channels=CHANNELS,
        ),
        FullyConnected(
            name="classify",
            inputs=("f",),
            outputs=("y",),
            weight="w3",
            bias="b3",
            output_channels=10,
        ),
    )
    shapes = {"x": (1, 8, 8, 1), "e": (1, 8, 8, 16), "f": (1, 4, 4, 16), "y": (1, 10)}
    return Network(
        "digits",
        layers,
        {name: Tensor(name, shape) for name, shape in shapes.items()},
        {name: Constant(name, value.shape, value) for name, value in weights.items()},
        ("x",),
        ("y",),
    )


def _scaled(weights: Weights) -> Weights:
    factors = np.ones(CHANNELS)
    factors[SCALED] = 100.0
    first = {name: weights[name] / factors for name in ("w1", "b1")}
    return {**weights, **first, "w2": weights["w2"] * factors}


def _points(
    run: Callable[[dict[str, np.ndarray]], dict[str, np.ndarray]],
    digits: tuple[Images, np.ndarray],
) -> float:
    images, labels = (part[TRAINED:] for part in digits)
    answers = [int(np.argmax(run({"x": image})["y"])) for image in images]
    return 100 * float(np.mean(answers == labels))


def _quantized_points(
    network: Network, options: QuantizationOptions, digits: tuple[Images, np.ndarray]
) -> float:
    platform = Platform.load("sd835")
    quantized = hexsim.quantize(network, list(digits[0][:50]), options)
    executor = PlanExecutor(platform.plan(quantized, "dsp"), quantized)
    return _points(executor.run, digits)


def test_per_channel_weights_undo_what_a_scaled_channel_does(
    weights: Weights, digits: tuple[Images, np.ndarray]
) -> None:
    plain, scaled = _network(weights), _network(_scaled(weights))
    before = FloatEngine(plain).run({"x": digits[0][0]})["y"]
    np.testing.assert_allclose(FloatEngine(scaled).run({"x": digits[0][0]})["y"], before, rtol=1e-4)
    reference = _points(FloatEngine(scaled).run, digits)
    assert reference > 85

    def loss(network: Network, options: QuantizationOptions) -> float:
        return reference - _quantized_points(network, options, digits)

    assert abs(loss(plain, QuantizationOptions())) <= 1
    assert loss(scaled, QuantizationOptions()) > 5
    assert loss(scaled, QuantizationOptions(symmetric_weights=True)) > 5
    assert abs(loss(scaled, QuantizationOptions(axis_weights=True))) <= 1
