"""Trained networks of other people, on real inputs, through the whole value side.

The files are not part of this repository; the tests are skipped where they are absent. Bounds are
a little below what was measured (docs/results/accuracy.md has the figures).
"""

from pathlib import Path

import numpy as np
import pytest

from benchmarks import real_networks
from hexsim.accuracy.output_errors import Distance
from hexsim.onnx_io.float_engine import FloatEngine
from hexsim.quantization.options import QuantizationOptions
from tests.real.both import both, kept, right

CHIPS = pytest.mark.parametrize("chip", ["sd835", "sd855"])


@pytest.mark.slow
def test_digits_lose_at_most_a_fifth_of_a_point(real_data: Path) -> None:
    real = real_networks.mnist(real_data)
    floats, codes = both(real)
    assert right(floats, real) > 0.98 * len(real.inputs)
    assert abs(right(codes, real) - right(floats, real)) <= 0.002 * len(real.inputs)


@CHIPS
def test_keywords_keep_their_winner(real_data: Path, chip: str) -> None:
    real = real_networks.keywords(real_data)
    (name,) = real.network.outputs
    engine = FloatEngine(real.network)
    expected = np.load(real_data / "kws_dscnn" / "float_probs_4x12.npy")
    answers = np.concatenate([engine.run(feed)[name] for feed in real.inputs])
    np.testing.assert_allclose(answers, expected, atol=1e-5)
    floats, codes = both(real, chip)
    assert kept(floats, codes) == 4
    assert Distance.between(floats, codes).sqnr_db > 27.0


def test_the_autoencoder_reconstructs(real_data: Path) -> None:
    real = real_networks.autoencoder(real_data)
    floats, codes = both(real)
    (name,) = real.network.inputs
    vectors = np.concatenate([feed[name] for feed in real.inputs])
    assert float(np.mean((floats - vectors) ** 2)) == pytest.approx(9.707, abs=0.01)
    assert Distance.between(floats, codes).sqnr_db > 30.0


@CHIPS
@pytest.mark.parametrize("axis", [False, True])
def test_people_are_seen_although_channels_are_dead(real_data: Path, chip: str, axis: bool) -> None:
    real = real_networks.visual_wake_words(real_data)
    floats, codes = both(real, chip, QuantizationOptions(axis_weights=axis))
    assert right(floats, real) == right(codes, real) == 15
    assert kept(floats, codes) == 16
    assert Distance.between(floats, codes).sqnr_db > 25.0


@CHIPS
def test_residual_layers_keep_most_winners(real_data: Path, chip: str) -> None:
    real = real_networks.resnet8(real_data)
    floats, codes = both(real, chip)
    assert right(floats, real) == right(codes, real) == 5
    assert kept(floats, codes) >= 21
    assert Distance.between(floats, codes).sqnr_db > 25.0


@CHIPS
def test_depthwise_layers_of_one_range_keep_every_winner(real_data: Path, chip: str) -> None:
    """MobileNetV1 was trained for codes, and here calibrated on photos as any float network."""
    real = real_networks.mobilenet(real_data)
    floats, codes = both(real, chip)
    assert right(floats, real) == right(codes, real) == 5
    assert kept(floats, codes) == 8
    assert Distance.between(floats, codes).sqnr_db > 14.0
