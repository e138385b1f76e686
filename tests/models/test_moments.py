"""Moments against sampling and against a convolution written as loops."""

import numpy as np
import pytest

from hexsim.models._moments import CORRELATION, Moments, joined
from hexsim.models._window import Window


def vector(*values: float) -> np.ndarray:
    return np.array(values, np.float32)


def test_relu_agrees_with_sampling() -> None:
    moments = Moments(vector(-1.0, 0.0, 0.7, 3.0), vector(0.5, 1.0, 2.0, 1.0))
    rng = np.random.default_rng(0)
    samples = moments.mean + moments.std * rng.standard_normal((1_000_000, 4))
    passed = np.maximum(samples, 0)
    after = moments.relu()
    np.testing.assert_allclose(after.mean, passed.mean(axis=0), atol=0.006)
    np.testing.assert_allclose(after.std, passed.std(axis=0), atol=0.006)


def test_sum_agrees_with_sampling() -> None:
    rng = np.random.default_rng(1)
    x, y = Moments(vector(1.0), vector(2.0)), Moments(vector(-3.0), vector(0.5))
    drawn = rng.normal(1, 2, 1_000_000) + rng.normal(-3, 0.5, 1_000_000)
    assert x.plus(y).mean[0] == pytest.approx(drawn.mean(), abs=0.01)
    assert x.plus(y).std[0] == pytest.approx(drawn.std(), abs=0.01)


def test_joining_and_flattening_keep_the_order_of_onnx() -> None:
    x = Moments(vector(1.0, 2.0), vector(3.0, 4.0))
    both = joined([x, Moments(vector(5.0), vector(6.0))])
    assert both.mean.tolist() == [1, 2, 5]
    assert both.flattened(2).mean.tolist() == [1, 1, 2, 2, 5, 5]
    assert both.flattened(2).std.tolist() == [3, 3, 4, 4, 6, 6]


@pytest.mark.parametrize("groups", [1, 2, 4])
def test_response_mean_is_the_mean_over_a_padded_constant_image(groups: int) -> None:
    rng = np.random.default_rng(2)
    height, width, inputs, outputs = 6, 5, 4, 8
    window = Window((3, 2), stride=2, pads=(1, 0, 2, 1))
    moments = Moments(rng.standard_normal(inputs).astype(np.float32), np.ones(inputs, np.float32))
    weight = rng.standard_normal((outputs, inputs // groups, 3, 2)).astype(np.float32)
    image = np.zeros((inputs, height + 3, width + 1))
    image[:, 1 : 1 + height, 0:width] = moments.mean[:, None, None]
    expected = []
    for output in range(outputs):
        first = output // (outputs // groups) * (inputs // groups)
        source = image[first : first + inputs // groups]
        values = [
            (source[:, y : y + 3, x : x + 2] * weight[output]).sum()
            for y in range(0, height + 3 - 3 + 1, 2)
            for x in range(0, width + 1 - 2 + 1, 2)
        ]
        expected.append(np.mean(values))
    answer = moments.response_mean(weight, groups, window.coverage((height, width)))
    np.testing.assert_allclose(answer, expected, rtol=1e-5, atol=1e-6)


def test_response_variance_agrees_with_sampling() -> None:
    rng = np.random.default_rng(3)
    std = vector(0.5, 2.0, 1.0, 3.0)
    weight = rng.standard_normal((6, 2, 1, 3)).astype(np.float32)
    common = rng.standard_normal((200_000, 4, 1)) * np.sqrt(CORRELATION)
    own = rng.standard_normal((200_000, 4, 3)) * np.sqrt(1 - CORRELATION)
    pixels = (common + own) * std[:, None]
    halves = [
        np.einsum("nik,oik->no", pixels[:, 2 * g : 2 * g + 2], weight[3 * g : 3 * g + 3, :, 0])
        for g in range(2)
    ]
    sampled = np.concatenate(halves, axis=1).var(axis=0)
    variance = Moments(np.zeros(4, np.float32), std).response_variance(weight, groups=2)
    np.testing.assert_allclose(variance, sampled, rtol=0.02)


def test_hard_sigmoid_and_hard_swish_agree_with_sampling_between_their_ends() -> None:
    moments = Moments(vector(-1.0, 0.0, 1.0), vector(0.5, 0.7, 0.5))
    rng = np.random.default_rng(4)
    samples = moments.mean + moments.std * rng.standard_normal((1_000_000, 3))
    gates = np.clip(samples / 6 + 0.5, 0, 1)
    for after, drawn in (
        (moments.hard_sigmoid(), gates),
        (moments.hard_swish(), samples * gates),
    ):
        np.testing.assert_allclose(after.mean, drawn.mean(axis=0), atol=0.002)
        np.testing.assert_allclose(after.std, drawn.std(axis=0), atol=0.002)


def test_product_agrees_with_sampling() -> None:
    rng = np.random.default_rng(5)
    x, y = Moments(vector(1.0), vector(2.0)), Moments(vector(-3.0), vector(0.5))
    drawn = rng.normal(1, 2, 1_000_000) * rng.normal(-3, 0.5, 1_000_000)
    assert x.times(y).mean[0] == pytest.approx(drawn.mean(), abs=0.02)
    assert x.times(y).std[0] == pytest.approx(drawn.std(), abs=0.02)


def test_a_mapped_tensor_agrees_with_sampling() -> None:
    moments = Moments(vector(-1.0, 0.0, 3.0), vector(0.5, 2.0, 1.0))
    rng = np.random.default_rng(6)
    samples = moments.mean + moments.std * rng.standard_normal((1_000_000, 3))
    after, drawn = moments.mapped(np.tanh), np.tanh(samples)
    np.testing.assert_allclose(after.mean, drawn.mean(axis=0), atol=0.004)
    np.testing.assert_allclose(after.std, drawn.std(axis=0), atol=0.004)
