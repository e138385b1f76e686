"""Changes of a network that may make it faster, each made on a copy.

A change keeps the names of layers, inputs and outputs, so that the encodings of a quantised model
still apply. Left out: channels rounded to what an engine packs, and axes moved to avoid transposes,
which change the shapes of all layers that follow.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from hexsim.graph.ir import Constant, Layer, Network, Tensor
from hexsim.layers import RELU, Clamp, Convolution, FullyConnected, Neuron, Reshape, Window
from hexsim.passes.dead_code import remove_dead_code
from hexsim.passes.fuse_clamps import fuse_clamps
from hexsim.quantization.model import Model


@dataclass(frozen=True)
class Change:
    """A way to change a network; `make` returns the changed copy, None if it does not apply.

    With `same_answers` the values stay, otherwise the network needs retraining.
    """

    name: str
    make: Callable[[Network], Network | None]
    same_answers: bool = False


@dataclass(frozen=True)
class TriedChange:
    """A change as it was tried: the layers changed, and times of one inference before and after."""

    name: str
    layers: tuple[str, ...]
    before_us: float
    after_us: float
    same_answers: bool

    @property
    def gain(self) -> float:
        """The share of the time that it saves; negative if it costs time."""
        return 1 - self.after_us / self.before_us


def changed_layers(before: Network, after: Network) -> tuple[str, ...]:
    """Return the names of the layers of `before` that `after` has as another type or function."""
    old, new = (
        {layer.name: (type(layer), getattr(layer, "function", None)) for layer in network.layers}
        for network in (before, after)
    )
    return tuple(name for name in old if new.get(name) != old[name])


def changed_model(model: Model, network: Network) -> Model:
    """Return the model with a changed copy of its network.

    A tensor that remains keeps its encoding. A new tensor or weight of a layer has that of the
    layer before the change, and the result of a new reshape has that of its input.
    """
    layers = {layer.name: layer for layer in model.network.layers}
    sources = dict[str, str]()
    for layer in network.layers:
        if (before := layers.get(layer.name)) is not None:
            names = (*before.outputs, *before.parameters)
            sources |= zip((*layer.outputs, *layer.parameters), names, strict=True)
        elif isinstance(layer, Reshape):
            sources[layer.output] = sources.get(layer.inputs[0], layer.inputs[0])

    def entries(of: Mapping[str, Any]) -> dict[str, Any]:
        names = (*network.tensors, *network.constants)
        before = {name: name if name in of else sources.get(name, name) for name in names}
        return {name: of[source] for name, source in before.items() if source in of}

    return replace(
        model,
        network=network,
        activations=entries(model.activations),
        parameters=entries(model.parameters),
        floats=entries(model.floats),
        hta=(),
    )


def as_convolutions(network: Network) -> Network | None:
    """Return the network with each fully connected layer as a 1x1 convolution.

    1. What the layer reads is reshaped to a single pixel, unless it is one.
    2. The pixel that the convolution writes is reshaped to the output of the layer. The next fully
       connected layer reads the pixel itself.
    """
    pixels = dict[str, str]()
    layers, tensors, constants = list[Layer](), list[Tensor](), list[Constant]()
    for layer in network.layers:
        if not isinstance(layer, FullyConnected):
            layers.append(layer)
            continue
        source, written = layer.inputs[0], network.tensors[layer.output]
        batch, *sizes = network.shape(source)
        shape = (batch, 1, 1, math.prod(sizes))
        if source not in pixels and network.shape(source) != shape:
            name = pixels[source] = f"{layer.name}.pixel_in"
            tensors.append(Tensor(name, shape, dtype=network.tensors[source].dtype))
            layers.append(Reshape(name=name, inputs=(source,), outputs=(name,), shape=shape))
        weight, channels = network.constants[layer.weight], layer.output_channels
        window = weight.derive((*shape[1:], channels), lambda same: same, f"{layer.name}.window")
        constants.append(window)
        pixel = f"{layer.name}.pixel"
        tensors.append(Tensor(pixel, (batch, 1, 1, channels), dtype=written.dtype))
        convolution = Convolution(
            name=layer.name,
            inputs=(pixels.get(source, source),),
            outputs=(pixel,),
            fused=layer.fused,
            weight=window.name,
            bias=layer.bias,
            window=Window((1, 1)),
            clamp=layer.clamp,
            output_channels=channels,
        )
        back = Reshape(name=pixel, inputs=(pixel,), outputs=layer.outputs, shape=written.shape)
        layers += [convolution, back]
        pixels[layer.output] = pixel
    return remove_dead_code(network.with_layers(layers, tensors, constants)) if constants else None


def with_functions(others: Mapping[str, Mapping[str, Any]], network: Network) -> Network | None:
    """Return the network with activations replaced, but for those that write outputs.

    `others` has the changed fields by function. A new clamp is fused into the layer before it.
    """
    layers = tuple(
        layer.replace(**others.get(layer.function, {}))
        if isinstance(layer, Neuron) and layer.output not in network.outputs
        else layer
        for layer in network.layers
    )
    return None if layers == network.layers else fuse_clamps(network.with_layers(layers))


_SMOOTH = ("silu", "hard_swish", "mish", "gelu", "gelu_tanh", "softplus", "elu", "leaky_relu")
_RELUS = {function: {"function": "clamp", "clamp": RELU} for function in _SMOOTH}
_HARD: Mapping[str, Mapping[str, Any]] = {
    "silu": {"function": "hard_swish"},
    "sigmoid": {"function": "hard_sigmoid", "alpha": 1 / 6, "beta": 0.5},
    "tanh": {"function": "clamp", "clamp": Clamp(-1.0, 1.0)},
}
CHANGES = (
    Change("fully connected as 1x1 convolution", as_convolutions, same_answers=True),
    Change("activations as Relu", partial(with_functions, _RELUS)),
    Change("activations as hard forms", partial(with_functions, _HARD)),
)
"""The changes that are tried."""
