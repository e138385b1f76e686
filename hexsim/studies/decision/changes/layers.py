"""Single layers in another form: fully connected ones, whose values stay, and activations.

A fully connected layer becomes a 1x1 convolution. Activations become Relu or their hard forms,
which needs retraining; Relu6 is not tried, since a layer absorbs it as it absorbs Relu, at the same
cost.
"""

import math
from collections.abc import Mapping
from functools import partial
from typing import Any

from hexsim.graph.ir import Constant, Layer, Network, Tensor
from hexsim.layers import RELU, Clamp, Convolution, FullyConnected, Neuron, Reshape, Window
from hexsim.passes.functions import fuse_clamps
from hexsim.passes.no_ops import remove_dead_code
from hexsim.studies.decision.changes.change import Change


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
