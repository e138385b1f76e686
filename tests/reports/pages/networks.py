"""Networks that pages are made of."""

import numpy as np

from hexsim.deployment import Deployment
from hexsim.deployment.platform import Platform
from hexsim.dlc import Container, Metadata
from hexsim.graph.ir import Constant, Layer, Network, Tensor
from hexsim.layers import Convolution, Elementwise, Window
from hexsim.quantization.model import Model
from hexsim.quantization.options import QuantizationOptions
from hexsim.quantization.quantizer import quantize
from hexsim.timing.results import Result

HOSTILE = '</script><img src=x onerror="window.hurt=1">'
"""A name that would run a script, were it ever markup."""


def chain(count: int, prefix: str = "conv", channels: int = 4) -> Network:
    """Convolutions of 1x1, one after the other, and a sum of the first and the last."""
    rng = np.random.default_rng(3)
    shape = (1, 2, 2, channels)
    layers: list[Layer] = []
    constants = {}
    last = "in"
    for index in range(count):
        name = f"{prefix}{index}"
        turn = np.linalg.qr(rng.standard_normal((channels, channels)))[0]  # nothing grows
        weight = turn.astype(np.float32).reshape(1, 1, channels, channels)
        constants[f"{name}.w"] = Constant(f"{name}.w", weight.shape, weight)
        layers.append(
            Convolution(
                name=name,
                inputs=(last,),
                outputs=(f"{name}.out",),
                weight=f"{name}.w",
                window=Window((1, 1), (1, 1), (0, 0, 0, 0)),
                output_channels=channels,
            )
        )
        last = f"{name}.out"
    layers.append(
        Elementwise(name="sum", inputs=(layers[0].output, last), outputs=("y",), kind="sum")
    )
    names = ("in", *(output for layer in layers for output in layer.outputs))
    tensors = {name: Tensor(name, shape) for name in names}
    return Network(f"{prefix}net", tuple(layers), tensors, constants, ("in",), ("y",))


def in_floats(network: Network) -> Container:
    """The network as a file holds it."""
    return Container(Model(network), Metadata())


def with_codes(network: Network, *, per_channel: bool = False) -> Container:
    """The network quantised, its weights per tensor or per channel."""
    rng = np.random.default_rng(5)
    shape = network.tensors["in"].shape
    feeds = [{"in": rng.standard_normal(shape).astype(np.float32)} for _ in range(2)]
    options = QuantizationOptions(axis_weights=per_channel)
    return Container(quantize(network, feeds, options), Metadata())


def simulated(network: Network, chip: str) -> Result:
    """One inference on the CPU of a chip."""
    return Deployment(Model(network), Platform.load(chip), "cpu").simulate()
