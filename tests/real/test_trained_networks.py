"""Trained networks of other people, on real inputs, through the whole value side.

The files are not part of this repository; the tests are skipped where they are absent.
"""

from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pytest

import hexsim
from hexsim.accuracy.metrics import sqnr_db
from hexsim.execution import PlanExecutor, stored_inputs
from hexsim.graph.ir import Network
from hexsim.host.float_execution import FloatEngine
from hexsim.platform import Platform

Array = np.ndarray


def both(
    network: Network, calibration: Iterable[Array], inputs: Iterable[Array], chip: str = "sd835"
) -> tuple[Array, Array]:
    """Float and int8 outputs of the first output, stacked over `inputs` (ONNX axis order)."""
    platform = Platform.load(chip)
    plan = platform.plan(network, "dsp")
    assert [subnet.runtime for subnet in plan.subnets] == ["dsp"]
    executor = PlanExecutor(
        plan,
        hexsim.quantize(network, list(calibration)),
        signed_weights=platform.signed_weights("dsp"),
    )
    engine, (name, *_) = FloatEngine(network), network.outputs
    feeds = [stored_inputs(network, {network.inputs[0]: x}) for x in inputs]
    floats = np.concatenate([engine.run(feed)[name] for feed in feeds])
    return floats, np.concatenate([executor.run(feed)[name] for feed in feeds])


@pytest.mark.slow
def test_digits_lose_at_most_a_fifth_of_a_point(real_data: Path) -> None:
    archive = np.load(real_data / "mnist_cnn" / "mnist_test_first5000.npz")
    images = archive["images"].astype(np.float32)[:, None, None]
    network = hexsim.load(real_data / "mnist_cnn" / "mnist.onnx")
    floats, codes = both(network, images[:100], images)
    right = [float(np.mean(np.argmax(y, -1) == archive["labels"])) for y in (floats, codes)]
    assert right[0] > 0.98
    assert abs(right[1] - right[0]) <= 0.002


@pytest.mark.parametrize("chip", ["sd835", "sd855"])
def test_keywords_keep_their_winner(real_data: Path, chip: str) -> None:
    folder = real_data / "kws_dscnn"
    inputs = np.load(folder / "mfcc_4x49x10.npy").astype(np.float32)[:, None, None]
    network = hexsim.load(folder / "kws_dscnn.onnx")
    floats, codes = both(network, inputs, inputs, chip)
    np.testing.assert_allclose(floats, np.load(folder / "float_probs_4x12.npy"), atol=1e-5)
    np.testing.assert_array_equal(np.argmax(floats, -1), np.argmax(codes, -1))


def test_the_autoencoder_reconstructs(real_data: Path) -> None:
    folder = real_data / "ad_fc_autoencoder"
    frames = np.fromfile(folder / "normal_id_01_00000000_hist_librosa.bin", "<f4").reshape(200, 128)
    vectors = np.stack([frames[i : i + 5].ravel() for i in range(196)])[:, None]
    floats, codes = both(hexsim.load(folder / "ad_fc_autoencoder.onnx"), vectors[::10], vectors)
    assert float(np.mean((floats - vectors[:, 0]) ** 2)) == pytest.approx(9.707, abs=0.01)
    assert sqnr_db(floats, codes) > 30.0
