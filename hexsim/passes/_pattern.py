"""Finds layers that together compute one tensor from another, backwards from the last layer."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from hexsim.graph.ir import Layer, Network
from hexsim.layers import Elementwise, Neuron
from hexsim.layers.elementwise import ElementwiseKind
from hexsim.passes._rewriter import Rewriter

Real = npt.NDArray[np.float64]
Numbers = Callable[[Layer, Rewriter], dict[str, float] | None]
"""Returns the constants that a layer reads, by name; None if it cannot be part of a pattern."""


@dataclass(frozen=True)
class Pattern:
    """Layers, in order, that compute one tensor from another, `source`."""

    source: str
    layers: tuple[Layer, ...]
    constants: Mapping[str, float]

    def __call__(self, x: Real, computed: Callable[[Layer, Sequence[Real]], Real]) -> Real:
        """Return the result for x; `computed` evaluates each layer."""
        values: dict[str, Real] = {
            name: np.array(constant) for name, constant in self.constants.items()
        }
        values[self.source] = x
        with np.errstate(all="ignore"):
            for layer in self.layers:
                values[layer.output] = computed(layer, [values[name] for name in layer.inputs])
        return np.broadcast_to(values[self.layers[-1].output], x.shape)

    def replaced_by(self, layer: Layer, rewriter: Rewriter) -> None:
        """Replace the layers by `layer`, under the name of the first."""
        first, *others = self.layers
        fused = (*first.fused, *(name for other in others for name in (other.name, *other.fused)))
        for replaced in self.layers:
            rewriter.drop(replaced)
        outputs = self.layers[-1].outputs
        rewriter.keep(
            layer.replace(name=first.name, inputs=(self.source,), outputs=outputs, fused=fused)
        )


def positions(network: Network) -> dict[str, int]:
    """Return the position of each layer, by name."""
    return {layer.name: index for index, layer in enumerate(network.layers)}


def readings(
    end: Layer, rewriter: Rewriter, position: Mapping[str, int], numbers: Numbers, most: int
) -> Iterator[Pattern]:
    """Yield patterns that end in `end`, with ever more layers, that depend on a single tensor.

    That tensor has the shape of the output of `end`. `numbers` accepts all layers; they are at most
    `most`.
    """
    network = rewriter.network
    layers: list[Layer] = []
    constants: dict[str, float] = {}
    open_names: set[str] = set(end.outputs)
    while len(layers) < most:
        producers = [rewriter.producer(name) for name in open_names]
        writers = [layer for layer in producers if layer is not None]
        if not writers:
            return
        last = max(writers, key=lambda layer: position[layer.name])
        layer_constants = numbers(last, rewriter)
        if layer_constants is None or not (last is end or _inside(last, layers, rewriter)):
            return
        layers.insert(0, last)
        constants.update(layer_constants)
        open_names -= set(last.outputs)
        open_names |= {name for name in last.inputs if name not in layer_constants}
        if len(open_names) == 1:
            (source,) = open_names
            if network.shape(source) == network.shape(end.output):
                yield Pattern(source, tuple(layers), dict(constants))


def number_by_number(layer: Layer, rewriter: Rewriter) -> dict[str, float] | None:
    """Return the constants that an element-wise layer reads; None for other layers."""
    network = rewriter.network
    if not isinstance(layer, Neuron | Elementwise):
        return None
    if isinstance(layer, Elementwise) and layer.kind not in _COMPUTED:
        return None
    if network.tensors[layer.output].dtype != "float32":
        return None
    names = [name for name in layer.inputs if name in network.constants]
    if any(rewriter.constant(name).elements != 1 for name in names):
        return None
    return {name: float(rewriter.constant(name).value().item()) for name in names}


def _inside(layer: Layer, behind: Sequence[Layer], rewriter: Rewriter) -> bool:
    """Return whether only the layers `behind` read the output of `layer`."""
    network = rewriter.network
    readers = {reader.name for reader in network.consumers.get(layer.output, ())}
    names = {name for reader in behind for name in (reader.name, *reader.fused)}
    return layer.output not in network.outputs and readers <= names


_COMPUTED: Mapping[ElementwiseKind, Callable[[Real, Real], Real]] = {
    "sum": np.add,
    "product": np.multiply,
    "sub": np.subtract,
    "div": np.divide,
    "max": np.maximum,
    "min": np.minimum,
}


def computed(layer: Layer, inputs: Sequence[Real]) -> Real:
    """Return the output of an element-wise layer."""
    if isinstance(layer, Neuron):
        return layer.values(inputs[0])
    assert isinstance(layer, Elementwise)
    result, *others = inputs
    for other in others:
        result = _COMPUTED[layer.kind](result, other)
    return np.clip(result, layer.clamp.low, layer.clamp.high)
