"""The modes on trained networks: dead channels, digits, and four-bit weights.

The files are not part of this repository; the tests are skipped where they are absent.
"""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

import hexsim
from hexsim.accuracy.metrics import sqnr_db
from hexsim.accuracy.scores import class_scores
from hexsim.api import seeded_calibration
from hexsim.execution import PlanExecutor, stored_inputs
from hexsim.graph.ir import Network
from hexsim.host.float_execution import FloatEngine
from hexsim.layers import Convolution
from hexsim.platform import Platform
from hexsim.quantization.options import QuantizationOptions
from hexsim.quantization.quantizer import quantize

Feed = dict[str, np.ndarray]

MODES = {
    "default": QuantizationOptions(),
    "enhanced": QuantizationOptions(enhanced="both"),
    "adjusted": QuantizationOptions(adjusted_weights=True),
    "symmetric": QuantizationOptions(symmetric_weights=True),
    "axis": QuantizationOptions(axis_weights=True),
    "axis, enhanced": QuantizationOptions(axis_weights=True, enhanced="both"),
    "four bits per channel": QuantizationOptions(axis_weights=True, weight_bits=4),
}


def _outputs(
    network: Network,
    options: QuantizationOptions,
    calibration: Sequence[Feed],
    feeds: Sequence[Feed],
) -> tuple[np.ndarray, np.ndarray]:
    """Float and int8 class scores, a row per feed."""
    quantized = quantize(network, calibration, options)
    executor = PlanExecutor(Platform.load("sd835").plan(quantized, "dsp"), quantized)
    engine, (name, *_) = FloatEngine(network), network.outputs
    floats, codes = (
        np.stack([side.run(feed)[name].ravel() for feed in feeds]) for side in (engine, executor)
    )
    return floats, codes


@pytest.mark.parametrize("mode", ["axis", "axis, enhanced"])
def test_dead_channels_do_not_blow_up(real_data: Path, mode: str) -> None:
    folder = real_data / "vww_mobilenetv1_025_96"
    network = class_scores(hexsim.load(folder / "vww_mobilenetv1_025_96.onnx"))
    weights = [
        np.abs(network.constants[layer.weight].value()).max(axis=(0, 1, 2))
        for layer in network.layers
        if isinstance(layer, Convolution)
    ]
    assert any(np.mean(magnitude <= 1e-12) > 0.5 for magnitude in weights)
    feeds = seeded_calibration(network)
    per_tensor, per_channel = (
        sqnr_db(*_outputs(network, MODES[name], feeds, feeds)) for name in ("default", mode)
    )
    assert per_channel > per_tensor + 3


@pytest.mark.parametrize("mode", MODES)
def test_digits(real_data: Path, mode: str) -> None:
    archive = np.load(real_data / "mnist_cnn" / "mnist_test_first5000.npz")
    network = hexsim.load(real_data / "mnist_cnn" / "mnist.onnx")
    (name,) = network.inputs
    images = archive["images"][:600].astype(np.float32)[:, None, None]
    feeds = [stored_inputs(network, {name: image}) for image in images]
    floats, codes = _outputs(network, MODES[mode], feeds[:50], feeds)
    right = [float(np.mean(np.argmax(y, -1) == archive["labels"][:600])) for y in (floats, codes)]
    assert abs(right[1] - right[0]) <= (0.01 if "four" in mode else 0.005)
