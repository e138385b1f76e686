"""A small network with a fault in one known layer, and without it.

Four 3x3 convolutions of eight channels with ReLU6, `c0` to `c3`, then a classifier. The fault is
always in `c2`.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np

from hexsim.graph.ir import Constant, FloatArray, Layer, Network, Tensor
from hexsim.layers import Clamp, Convolution, FullyConnected, Window
from hexsim.quantization.encodings import Encoding
from hexsim.quantization.model import Model
from hexsim.quantization.options import QuantizationOptions
from hexsim.quantization.quantizer import quantize

CULPRIT = "c2"
OUTLIER = 3
_CHANNELS = 8


def inputs(count: int = 6, seed: int = 1) -> list[dict[str, FloatArray]]:
    rng = np.random.default_rng(seed)
    return [{"in": rng.standard_normal((1, 8, 8, 8), np.float32)} for _ in range(count)]


def network(fault: str = "none") -> Network:
    """`outlier` weights that saturate one channel, a `dead` one with wide weights, wide `bias`."""
    rng = np.random.default_rng(7)
    layers: list[Layer] = []
    tensors = {"in": Tensor("in", (1, 8, 8, 8))}
    constants: dict[str, Constant] = {}
    last = "in"
    for index in range(4):
        name = f"c{index}"
        weight = rng.normal(0.0, 0.15, (3, 3, _CHANNELS, _CHANNELS)).astype(np.float32)
        bias = rng.uniform(0.0, 0.5, _CHANNELS).astype(np.float32)
        if name == CULPRIT:
            _break(fault, weight, bias)
        constants |= {f"{name}.w": Constant(f"{name}.w", weight.shape, weight)}
        constants |= {f"{name}.b": Constant(f"{name}.b", bias.shape, bias)}
        layers.append(
            Convolution(
                name=name,
                inputs=(last,),
                outputs=(f"{name}.out",),
                weight=f"{name}.w",
                bias=f"{name}.b",
                window=Window((3, 3), (1, 1), (1, 1, 1, 1)),
                clamp=Clamp(0.0, 6.0),
                output_channels=_CHANNELS,
            )
        )
        last = f"{name}.out"
        tensors[last] = Tensor(last, (1, 8, 8, _CHANNELS))
    weight = rng.normal(0.0, 0.05, (8 * 8 * _CHANNELS, 10)).astype(np.float32)
    constants["fc.w"] = Constant("fc.w", weight.shape, weight)
    layers.append(
        FullyConnected(
            name="fc", inputs=(last,), outputs=("scores",), weight="fc.w", output_channels=10
        )
    )
    tensors["scores"] = Tensor("scores", (1, 10))
    made = Network("broken", tuple(layers), tensors, constants, ("in",), ("scores",))
    made.check()
    return made


def _break(fault: str, weight: FloatArray, bias: FloatArray) -> None:
    if fault == "outlier":
        weight[..., OUTLIER] *= 60.0
    elif fault == "dead":
        weight[..., OUTLIER] *= 60.0
        bias[OUTLIER] = -2e4
    elif fault == "bias":
        bias[OUTLIER] = 400.0


@cache
def quantized(fault: str = "none", bias_bits: int = 32) -> Model:
    """Calibrated on other inputs; faults of activations are put into the encodings."""
    options = QuantizationOptions(bias_bits=bias_bits)  # type: ignore[arg-type]
    model = quantize(network(fault), inputs(12, seed=0), options)
    ranges = {"clipped": 1.0, "unused": 300.0}
    if fault in ranges:
        wrong = {f"{CULPRIT}.out": Encoding.from_range(0.0, ranges[fault])}
        model = replace(model, activations={**model.activations, **wrong})
    return model
