"""A change of a network, and the copy of a model that it gives.

A change keeps the names of layers, inputs and outputs, so that the encodings of a quantised model
still apply.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from hexsim.graph.ir import Network
from hexsim.quantization.encodings import AxisEncoding
from hexsim.quantization.model import Model


@dataclass(frozen=True)
class Change:
    """A way to change a network; `make` returns the changed copy, None if it does not apply.

    With `same_answers` the values stay, otherwise the network needs retraining. `remark` says why
    it may help.
    """

    name: str
    make: Callable[[Network], Network | None]
    same_answers: bool = False
    remark: str = ""


def changed_layers(before: Network, after: Network) -> tuple[str, ...]:
    """Return the names of the layers of `before` that `after` lacks or has in another way.

    That is another type or function, other channels, or operands of another shape.
    """
    old, new = (
        {
            layer.name: (
                type(layer),
                getattr(layer, "function", None),
                getattr(layer, "output_channels", None),
                network.input_shapes(layer),
            )
            for layer in network.layers
        }
        for network in (before, after)
    )
    return tuple(name for name in old if new.get(name) != old[name])


def changed_inputs(before: Network, after: Network) -> str:
    """Return in words which inputs `after` stores in another order of their axes, and how."""
    moved = (name for name in before.inputs if after.tensors[name] != before.tensors[name])
    texts = (f"input '{name}' stored as {'x'.join(map(str, after.shape(name)))}" for name in moved)
    return ", ".join(texts)


def changed_model(model: Model, network: Network) -> Model:
    """Return the model with a changed copy of its network.

    A tensor that remains keeps its encoding. A new tensor or weight of a layer has that of the
    layer before the change, for as many channels as it has; what moves codes has that of its input.
    """
    layers = {layer.name: layer for layer in model.network.layers}
    read, sources = dict[str, str](), dict[str, str]()
    for layer in network.layers:
        if (before := layers.get(layer.name)) is not None:
            sources |= zip(layer.outputs, before.outputs, strict=True)
            sources |= zip(layer.parameters, before.parameters, strict=True)
            read |= zip(layer.inputs, before.inputs, strict=True)
    sources = read | sources
    for layer in network.layers:
        if layer.moves_codes:
            sources.setdefault(layer.output, sources.get(layer.inputs[0], layer.inputs[0]))

    def entries(of: Mapping[str, Any]) -> dict[str, Any]:
        names = (*network.tensors, *network.constants)
        before = {name: name if name in of else sources.get(name, name) for name in names}
        return {
            name: _of_channels(of[source], network.shape(name))
            for name, source in before.items()
            if source in of
        }

    return replace(
        model,
        network=network,
        activations=entries(model.activations),
        parameters=entries(model.parameters),
        floats=entries(model.floats),
        hta=(),
    )


def kept(count: int, of: int) -> Any:
    """Return which `count` channels `of` as many are taken; the first ones again if more."""
    return np.arange(count) % of


def _of_channels(encoding: Any, shape: tuple[int, ...]) -> Any:
    """Return the entry of a tensor of another shape; only encodings per channel differ."""
    if not isinstance(encoding, AxisEncoding):
        return encoding
    channels = encoding.channels
    return AxisEncoding(tuple(channels[index] for index in kept(shape[-1], len(channels))))
