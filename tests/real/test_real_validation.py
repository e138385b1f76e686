"""The accuracy debugger on trained networks of other people and their real inputs."""

from pathlib import Path

import numpy as np
import pytest

import hexsim
from hexsim.accuracy.diagnosis import diagnose
from hexsim.accuracy.layer_errors import most_added
from hexsim.accuracy.outputs import OutputJudge
from hexsim.accuracy.remedies import try_remedies
from hexsim.accuracy.validation import validate
from hexsim.execution import stored_inputs
from hexsim.quantization.quantized import require_float


@pytest.mark.slow
def test_digits_are_counted_right_on_both_sides(real_data: Path) -> None:
    archive = np.load(real_data / "mnist_cnn" / "mnist_test_first5000.npz")
    network = require_float(hexsim.load(real_data / "mnist_cnn" / "mnist.onnx"))
    images = archive["images"].astype(np.float32)[:, None, None]
    feeds = [stored_inputs(network, {network.inputs[0]: image}) for image in images]
    model = hexsim.quantize(network, list(images[:100]))
    labels = archive["labels"].tolist()
    hits = validate(model, feeds, "dsp", signed_weights=False, labels=labels).hits
    assert hits.inputs == 5000
    assert hits.float_top1 > 4900
    assert abs(hits.float_top1 - hits.runtime_top1) <= 10
    assert hits.same_top1 > 4950


def test_per_channel_weights_help_the_autoencoder(real_data: Path) -> None:
    """Trained fully connected layers with weight outliers and dead channels."""
    folder = real_data / "ad_fc_autoencoder"
    frames = np.fromfile(folder / "normal_id_01_00000000_hist_librosa.bin", "<f4").reshape(200, 128)
    vectors = [frames[i : i + 5].ravel()[None] for i in range(0, 196, 10)]
    network = require_float(hexsim.load(folder / "ad_fc_autoencoder.onnx"))
    feeds = [stored_inputs(network, {network.inputs[0]: vector}) for vector in vectors]
    model = hexsim.quantize(network, vectors)
    errors = validate(model, feeds, "dsp", signed_weights=False).layers
    names = [row.layer for row in most_added(errors)[:5]]
    diagnoses = diagnose(model, errors, names, feeds, signed_weights=False)
    kinds = {found.findings[0].cause.kind for found in diagnoses}
    assert kinds == {"range outlier channel", "dead channel", "one range for all channels"}
    judge = OutputJudge(network, feeds, "dsp", signed_weights=False)
    trials = try_remedies(model, errors, judge)
    alone = next(t for t in trials if len(t.remedies) == 1 and "--axis-quant" in t.remedies[0])
    assert alone.after_db > alone.before_db + 6.0
