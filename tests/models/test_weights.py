"""What seeded weights look like."""

import numpy as np

from hexsim.models._weights import channel_scales, filters, generator


def test_generators_differ_by_network_and_by_tensor() -> None:
    draws = {generator(n, t).integers(1 << 60) for n in ("a", "b") for t in ("x", "y")}
    assert len(draws) == 4
    assert generator("a", "x").integers(1 << 60) in draws


def test_channel_scales_have_unit_mean_square() -> None:
    scales = channel_scales(generator("n", "scale"), 100_000)
    assert scales.dtype == np.float32
    assert scales.min() > 0
    assert abs(np.mean(np.square(scales)) - 1) < 0.02


def test_dense_filters_are_centred_at_each_tap_and_scaled_by_channel() -> None:
    scales = np.array([0.5, 1, 2], np.float32)
    drawn = filters(generator("n", "w"), (3, 4096, 3, 3), 0.1, scales)
    np.testing.assert_allclose(drawn.mean(axis=1), 0, atol=1e-6)
    np.testing.assert_allclose(drawn.std(axis=(1, 2, 3)), 0.1 * scales, rtol=0.02)


def test_filters_on_images_are_not_centred() -> None:
    drawn = filters(generator("n", "w"), (8, 3, 3, 3), 1.0, np.ones(8, np.float32))
    assert np.abs(drawn.mean(axis=1)).min() > 0


def test_depthwise_filters_fall_off_from_the_centre_and_keep_their_scale() -> None:
    drawn = filters(generator("n", "w"), (20_000, 1, 3, 3), 0.5, np.ones(20_000, np.float32))
    power = np.square(drawn[:, 0]).mean(axis=0)
    assert abs(power.mean() ** 0.5 - 0.5) < 0.01
    assert power[1, 1] > power[0, 1] > power[0, 0]
    np.testing.assert_allclose(power, power.T, rtol=0.1)
