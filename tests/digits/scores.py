"""What the networks answer to the digits held out, in float and in every mode."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache

import numpy as np

from hexsim.graph.ir import FloatArray, Network
from hexsim.onnx_io.float_engine import FloatEngine
from hexsim.quantization.model import Model
from hexsim.quantization.optimizations import Optimization, quantize_optimized
from hexsim.quantization.options import QuantizationOptions
from tests.deployed import deployed
from tests.digits.data import digits

CALIBRATION = 100
"""Training images used for calibration, and for bias correction."""

Feed = dict[str, FloatArray]


@dataclass(frozen=True)
class Mode:
    """How a network is quantised."""

    options: QuantizationOptions = field(default_factory=QuantizationOptions)
    optimizations: tuple[Optimization, ...] = ()


MODES = {
    "default": Mode(),
    "enhanced": Mode(QuantizationOptions(enhanced="both")),
    "symmetric": Mode(QuantizationOptions(symmetric_weights=True)),
    "per channel": Mode(QuantizationOptions(axis_weights=True)),
    "cle": Mode(optimizations=("cle",)),
    "cle, bc": Mode(optimizations=("cle", "bc")),
}


@cache
def calibration() -> list[Feed]:
    """Training images as the networks take them."""
    return _feeds(digits().train_images[:CALIBRATION])


@cache
def held_out() -> list[Feed]:
    """The images of `digits().test_labels`."""
    return _feeds(digits().test_images)


def quantized(network: Network, mode: Mode) -> Model:
    """Quantise as `mode` says."""
    return quantize_optimized(network, calibration, mode.options, mode.optimizations).model


def float_scores(network: Network) -> FloatArray:
    """Class scores (600, 10) in float."""
    return _scores(FloatEngine(network).run)


def int8_scores(network: Network, mode: Mode) -> FloatArray:
    """Class scores (600, 10) of the quantised network on dsp of the Snapdragon 835."""
    return dsp_scores(quantized(network, mode))


def dsp_scores(model: Model) -> FloatArray:
    """The same of a network that is quantised."""
    return _scores(deployed(model).executor().run)


def points(scores: FloatArray) -> float:
    """Percent of the digits held out that are right."""
    return 100 * float(np.mean(scores.argmax(axis=1) == digits().test_labels))


def _scores(run: Callable[[Mapping[str, FloatArray]], Mapping[str, FloatArray]]) -> FloatArray:
    return np.concatenate([run(feed)["y"] for feed in held_out()])


def _feeds(images: FloatArray) -> list[Feed]:
    return [{"x": np.ascontiguousarray(image[None].transpose(0, 2, 3, 1))} for image in images]
