"""A small network in which one layer is to be float: in -> conv1 -> conv2 -> tanh -> conv3."""

from __future__ import annotations

import numpy as np

from hexsim.graph.ir import Constant, FloatArray, Network, Tensor
from hexsim.layers import RELU, Convolution, Neuron, Window
from hexsim.quantization.model import Model
from hexsim.quantization.overrides import FloatOverride, Overrides
from hexsim.quantization.quantizer import quantize

BIASED = ("conv2.y", "conv2.w", "conv2.b")
"""What the family rule makes float together."""

SHAPE = (1, 6, 6, 4)


def chain() -> Network:
    """Four layers on 6 x 6 x 4, with weights and biases."""
    rng = np.random.default_rng(5)
    constants = {}
    layers: list[Convolution | Neuron] = []
    last = "in"
    for name in ("conv1", "conv2", "tanh", "conv3"):
        if name == "tanh":
            layers.append(
                Neuron(name=name, inputs=(last,), outputs=(f"{name}.y",), function="tanh")
            )
        else:
            constants[f"{name}.w"] = rng.normal(0, 0.3, (3, 3, 4, 4)).astype(np.float32)
            constants[f"{name}.b"] = rng.normal(0, 0.3, 4).astype(np.float32)
            layers.append(
                Convolution(
                    name=name,
                    inputs=(last,),
                    outputs=(f"{name}.y",),
                    weight=f"{name}.w",
                    bias=f"{name}.b",
                    window=Window((3, 3), (1, 1), (1, 1, 1, 1)),
                    output_channels=4,
                    clamp=RELU if name == "conv1" else Convolution.clamp,
                )
            )
        last = layers[-1].output
    names = ["in", *(layer.output for layer in layers)]
    network = Network(
        "chain",
        tuple(layers),
        {name: Tensor(name, SHAPE) for name in names},
        {name: Constant(name, array.shape, array) for name, array in constants.items()},
        ("in",),
        (last,),
    )
    network.check()
    return network


def feeds(count: int = 3) -> list[dict[str, FloatArray]]:
    """Seeded inputs."""
    rng = np.random.default_rng(6)
    return [{"in": rng.normal(0, 1, SHAPE).astype(np.float32)} for _ in range(count)]


def mixed(bits: int = 32, *names: str) -> Model:
    """The chain quantised with the tensors `names` (conv2's output) as floats."""
    keys = {name: FloatOverride(bits) for name in names or ("conv2.y",)}  # type: ignore[arg-type]
    return quantize(chain(), feeds(), overrides=Overrides(keys))
