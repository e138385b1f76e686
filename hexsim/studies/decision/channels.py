"""Channels as multiples of what an engine computes at once, which need retraining.

A vector of HVX, a block of the HTA and a crouton of the HTP hold 32 channels: of 33 channels, 64
are computed. Counts are rounded down, by a quarter at most (a choice), and weights are cropped, so
the copy has the right time and wrong answers. Tensors that an elementwise layer or a depthwise
convolution joins change together. Tensors that any other layer joins or splits along the channels
keep their number, as inputs and outputs of the network do.
"""

import math
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from hexsim.graph.ir import Constant, Layer, Network, Shape
from hexsim.htp.layout import DEPTH
from hexsim.hvx.layout import DEPTH_SLICE
from hexsim.layers import (
    BatchNorm,
    Concat,
    Elementwise,
    Filtering,
    FullyConnected,
    Neuron,
    Pad,
    Permute,
    Pooling,
    Prelu,
    Reduce,
    Reshape,
    Resize,
    Weighted,
)
from hexsim.records import dataclass, fields, replace
from hexsim.runtimes import MAIN_ENGINE, Engine, Runtime
from hexsim.studies.changes import FIXED, Change, kept

Array = npt.NDArray[np.generic]

CHANNELS_AT_ONCE: Mapping[Engine, int] = {"hvx": DEPTH_SLICE, "htp": DEPTH}
"""Channels that an engine pads to; other engines are not known to pad."""
MOST_DROPPED = 0.25
"""The largest share of the channels of a layer that is dropped."""
MOST_GROUPS = 4
"""Groups of tensors that are tried one by one, those with the most unused slots first."""


@dataclass(frozen=True)
class ChannelGroup:
    """Tensors with the same channels, how many fewer there may be, and the slots unused now."""

    tensors: tuple[str, ...]
    channels: int
    fewer: int
    unused: int


def changes_of(network: Network, runtime: Runtime) -> Iterator[Change]:
    """Yield the changes to try; those of channels depend on what the engine computes at once."""
    yield from FIXED
    yield from channel_changes(network, MAIN_ENGINE[runtime])


def channel_changes(network: Network, engine: Engine) -> Iterator[Change]:
    """Yield a change for all groups of channels together, and one for each of the first groups."""
    if (multiple := CHANNELS_AT_ONCE.get(engine)) is None:
        return
    groups = channel_groups(network, multiple)
    of_all = {name: group.fewer for group in groups for name in group.tensors}
    if len(groups) > 1:
        yield Change(f"channels as multiples of {multiple}", partial(with_channels, of_all))
    for group in groups[:MOST_GROUPS]:
        yield Change(
            f"{group.channels} channels as {group.fewer}",
            partial(with_channels, dict.fromkeys(group.tensors, group.fewer)),
            remark=f"{group.fewer + multiple} are computed",
        )


def channel_groups(network: Network, multiple: int) -> list[ChannelGroup]:
    """Return the groups whose channels can be fewer, those with the most unused slots first."""
    groups = list[ChannelGroup]()
    for members in _joined(network):
        writers = [network.producers[name] for name in members]
        channels = network.shape(members[0])[-1]
        fewer = channels // multiple * multiple
        if not any(isinstance(writer, Weighted) for writer in writers) or not (
            0 < channels - fewer <= MOST_DROPPED * channels
        ):
            continue
        pixels = sum(math.prod(network.shape(name)[:-1]) for name in members)
        unused = (fewer + multiple - channels) * pixels
        groups.append(ChannelGroup(members, channels, fewer, unused))
    return sorted(groups, key=lambda group: -group.unused)


def with_channels(sizes: Mapping[str, int], network: Network) -> Network:
    """Return the network with other numbers of channels of some tensors, which form groups."""

    def shape_of(name: str) -> Shape:
        shape = network.shape(name)
        return (*shape[:-1], sizes[name]) if name in sizes else shape

    tensors = [replace(network.tensors[name], shape=shape_of(name)) for name in sizes]
    constants = dict[str, Constant]()
    layers = [_fitted(layer, network, shape_of, constants) for layer in network.layers]
    return network.with_layers(layers, tensors, constants.values())


def _fitted(
    layer: Layer, network: Network, shape_of: Callable[[str], Shape], constants: dict[str, Constant]
) -> Layer:
    """Return a layer for the channels of its tensors; its new constants are added."""
    before = network.shape(layer.output)
    result = shape_of(layer.output)
    operands = [shape_of(name) for name in layer.inputs]
    if result == before and operands == list(network.input_shapes(layer)):
        return layer
    if isinstance(layer, Filtering):
        groups = result[-1] if layer.groups > 1 else 1
        layer = layer.replace(output_channels=result[-1], groups=groups)
    elif isinstance(layer, FullyConnected):
        layer = layer.replace(output_channels=result[-1])
    elif isinstance(layer, Reshape):
        layer = layer.replace(shape=result)
    wanted = dict(layer.parameter_shapes(operands))
    if isinstance(layer, Elementwise):
        wanted |= {
            name: (*network.shape(name)[:-1], result[-1])
            for name in layer.inputs
            if name in network.constants and network.shape(name)[-1:] == before[-1:]
        }
    names = {
        name: _cropped(network.constants[name], shape, layer.name, constants)
        for name, shape in wanted.items()
        if shape != network.shape(name)
    }
    attributes = {
        field.name: names[value]
        for field in fields(layer)
        if isinstance(value := getattr(layer, field.name), str) and value in names
    }
    inputs = tuple(names.get(name, name) for name in layer.inputs)
    return layer.replace(**{**attributes, "name": layer.name, "inputs": inputs})


def _cropped(constant: Constant, shape: Shape, layer: str, constants: dict[str, Constant]) -> str:
    """Add the constant in another shape for a layer, and return its name."""

    def crop(array: Array) -> Array:
        for axis, size in enumerate(shape):
            if size != array.shape[axis]:
                array = np.take(array, kept(size, array.shape[axis]), axis)
        return array

    name = f"{layer}.{constant.name}"
    constants[name] = constant.derive(shape, crop, name)
    return name


def _joined(network: Network) -> Iterator[tuple[str, ...]]:
    """Yield the tensors of each group, in order; groups with a fixed number are left out."""
    group_of = {name: {name} for name in network.tensors}
    fixed = {*network.inputs, *network.outputs}
    for layer in network.layers:
        joined = _same_channels(layer, network)
        if joined is None:
            fixed.update(name for name in (*layer.inputs, *layer.outputs) if name in group_of)
            continue
        for first, other in pairwise(joined):
            if group_of[first] is not group_of[other]:
                group_of[first] |= group_of[other]
                group_of |= dict.fromkeys(group_of[other], group_of[first])
    for members in {id(group): group for group in group_of.values()}.values():
        if not members & fixed:
            yield tuple(name for name in network.tensors if name in members)


def _same_channels(layer: Layer, network: Network) -> list[str] | None:
    """Return the tensors whose channels a layer makes equal; None if it fixes their number."""
    shapes = network.input_shapes(layer)
    result = network.shape(layer.outputs[0])
    last = len(result) - 1
    match layer:
        case Filtering(groups=1):
            return []
        case FullyConnected() if math.prod(shapes[0][1:]) == shapes[0][-1]:
            return []
        case Filtering() if not layer.groups == shapes[0][-1] == layer.output_channels:
            return None
        case Filtering() | Neuron() | BatchNorm() | Prelu() | Pooling() | Resize() | Elementwise():
            pass
        case Reduce() if last not in layer.axes:
            pass
        case Pad() if not layer.begins[last] and not layer.ends[last]:
            pass
        case Concat() if layer.axis != last:
            pass
        case Reshape() if result and shapes[0][-1:] == result[-1:]:
            pass
        case Permute() if layer.permutation[-1:] == (last,):
            pass
        case _:
            return None
    read = [name for name in layer.inputs if name in network.tensors]
    equal = [name for name in read if network.shape(name)[-1:] == result[-1:]]
    # One channel that is repeated is not joined.
    return [*equal, *layer.outputs] if result else None
