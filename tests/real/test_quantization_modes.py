"""The modes on trained networks: dead channels, digits, and four-bit weights.

The files are not part of this repository; the tests are skipped where they are absent.
"""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from benchmarks import real_networks
from hexsim.accuracy.output_errors import Distance
from hexsim.accuracy.scores import class_scores
from hexsim.inputs.seeded import seeded_calibration
from hexsim.layers import Convolution
from hexsim.quantization.options import QuantizationOptions
from tests.real.both import both, right

MODES = {
    "default": QuantizationOptions(),
    "enhanced": QuantizationOptions(enhanced="both"),
    "adjusted": QuantizationOptions(adjusted_weights=True),
    "symmetric": QuantizationOptions(symmetric_weights=True),
    "axis": QuantizationOptions(axis_weights=True),
    "axis, enhanced": QuantizationOptions(axis_weights=True, enhanced="both"),
    "four bits per channel": QuantizationOptions(axis_weights=True, weight_bits=4),
}


@pytest.mark.parametrize("mode", ["axis", pytest.param("axis, enhanced", marks=pytest.mark.slow)])
def test_dead_channels_do_not_blow_up(real_data: Path, mode: str) -> None:
    real = real_networks.visual_wake_words(real_data)
    network = class_scores(real.network)
    weights = [
        np.abs(network.constants[layer.weight].value()).max(axis=(0, 1, 2))
        for layer in network.layers
        if isinstance(layer, Convolution)
    ]
    assert any(np.mean(magnitude <= 1e-12) > 0.5 for magnitude in weights)
    feeds = seeded_calibration(network)
    seeded = replace(real, inputs=feeds, calibration=feeds)
    per_tensor, per_channel = (
        Distance.between(*both(seeded, options=MODES[name])).sqnr_db for name in ("default", mode)
    )
    assert per_channel > per_tensor + 3


@pytest.mark.parametrize("mode", MODES)
def test_digits(real_data: Path, mode: str) -> None:
    real = real_networks.mnist(real_data)
    some = replace(real, inputs=real.inputs[:600], labels=real.labels[:600])
    floats, codes = both(some, options=MODES[mode])
    lost = abs(right(codes, some) - right(floats, some))
    assert lost <= (6 if "four" in mode else 3)
