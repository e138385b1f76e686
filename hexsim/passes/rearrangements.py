"""Takes out layers that only rearrange or do nothing, or makes fewer of several.

A series of reshapes and permutes is recognised by its effect: where each element comes from. Layers
whose results are not used are removed. TensorFlow writes a dilated depthwise layer as SpaceToBatch,
filter, BatchToSpace; ONNX has no such pair, so converters write a large filter with zeros between
its taps, which becomes a dilated one again.
"""

import dataclasses
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import permutations
from typing import TypedDict

import numpy as np

from hexsim.errors import InvalidDataError
from hexsim.graph.ir import Layer, Network, Shape, Tensor
from hexsim.layers import (
    ChannelShuffle,
    Concat,
    Convolution,
    DepthToSpace,
    Elementwise,
    Neuron,
    Permute,
    Reshape,
    SpaceToDepth,
)
from hexsim.layers._bases import broadcast
from hexsim.layers.elementwise import ElementwiseKind
from hexsim.passes._rewriter import (
    Array,
    Rewriter,
    Runs,
    in_place,
    is_private,
    names_of,
    permuted,
    view,
)
from hexsim.records import dataclass
from hexsim.texts.text import new_name

_BEYOND_ALL: Mapping[ElementwiseKind, float] = {"max": -math.inf, "min": math.inf}
"""The operands without effect."""


def remove_no_ops(network: Network) -> Network:
    """Remove layers without effect (a dropout, an identity, a transpose that moves nothing).

    1. A Permute of a Permute becomes one Permute, a Reshape of a Reshape one Reshape.
    2. The layer type decides what is a no-op (`Layer.is_no_op`); a layer that reads a constant is
       none. Operands of a Concat without elements are removed, and so are infinite bounds of a
       maximum or minimum.
    3. Readers of a no-op's output read its input instead.
    4. If the output is an output of the network, the layer that writes the input writes it instead.
       If that is impossible (the input is itself an input or output of the network), the no-op
       stays.
    """
    names: dict[str, str] = {}
    layers: dict[str, Layer] = {}
    writers: dict[str, str] = {}
    for original in network.layers:
        layer = original
        if not names.keys().isdisjoint(original.inputs):
            layer = layer.replace(inputs=tuple(names.get(name, name) for name in layer.inputs))
        if isinstance(layer, Permute | Reshape):
            layer = _joined(layer, layers.get(writers.get(layer.inputs[0], "")))
        if isinstance(layer, Concat):
            inputs = tuple(name for name in layer.inputs if 0 not in network.shape(name))
            layer = layer.replace(inputs=inputs) if inputs not in ((), layer.inputs) else layer
        if isinstance(layer, Elementwise) and layer.kind in _BEYOND_ALL:
            layer = _with_bounds(layer, network)
        if is_no_op(layer, network):
            (source,) = layer.inputs
            if layer.output not in network.outputs:
                names[layer.output] = source
                continue
            if source in writers and source not in network.outputs:
                names = {
                    name: layer.output if new == source else new for name, new in names.items()
                }
                names[source] = layer.output
                _rename(layers, source, layer.output)
                writers[layer.output] = writers.pop(source)
                continue
        layers[layer.name] = layer
        writers.update(dict.fromkeys(layer.outputs, layer.name))
    return network.with_layers(layers.values())


def _joined(layer: Permute | Reshape, before: Layer | None) -> Layer:
    if isinstance(layer, Reshape):
        return layer.replace(inputs=before.inputs) if isinstance(before, Reshape) else layer
    if not isinstance(before, Permute):
        return layer
    permutation = tuple(before.permutation[axis] for axis in layer.permutation)
    return layer.replace(inputs=before.inputs, permutation=permutation)


def _with_bounds(layer: Elementwise, network: Network) -> Layer:
    """Return the maximum without operands of minus infinity, or the minimum without infinity.

    With a single operand left it becomes a clamp.
    """
    inputs = tuple(
        name
        for name in layer.inputs
        if name not in network.constants
        or not (network.constants[name].value() == _BEYOND_ALL[layer.kind]).all()
    )
    shape = network.shape(layer.output)
    if not inputs or layer.inputs == inputs or broadcast(*map(network.shape, inputs)) != shape:
        return layer
    if len(inputs) > 1:
        return layer.replace(inputs=inputs)
    return Neuron(
        name=layer.name,
        inputs=inputs,
        outputs=layer.outputs,
        fused=layer.fused,
        function="clamp",
        clamp=layer.clamp,
    )


def is_no_op(layer: Layer, network: Network) -> bool:
    """Return whether `layer` has no effect (rule 2)."""
    if not layer.inputs or layer.inputs[0] not in network.tensors:
        return False
    return layer.is_no_op(network.input_shapes(layer))


def _rename(layers: dict[str, Layer], old: str, new: str) -> None:
    for label, layer in layers.items():
        if old in layer.inputs or old in layer.outputs:
            layers[label] = layer.replace(
                inputs=tuple(new if name == old else name for name in layer.inputs),
                outputs=tuple(new if name == old else name for name in layer.outputs),
            )


def remove_dead_code(network: Network) -> Network:
    """Remove layers that contribute to no output of the network.

    1. A layer stays if one of its outputs is an output of the network or is read by a layer
       that stays.
    """
    needed = set(network.outputs)
    layers: list[Layer] = []
    for layer in reversed(network.layers):
        if needed.intersection(layer.outputs):
            layers.append(layer)
            needed.update(layer.inputs)
    return network.with_layers(reversed(layers))


_MOST_AXES = 5
"""The most axes of a tensor on an accelerator."""
_LARGEST_BLOCK = 8
"""The largest block of pixels that is recognised."""


class _Connections(TypedDict):
    """The name of a layer, and the tensors that it reads and writes."""

    name: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]


_UNCONNECTED = _Connections(name="", inputs=(), outputs=())


def find_rearrangements(network: Network) -> Network:
    """Replace chains of reshapes and permutes by the simplest layers with the same effect.

    1. A chain ends where another layer reads its output; a chain without a permute stays.
    2. Swapping groups of channels becomes a ChannelShuffle, moving blocks of channels to pixels a
       DepthToSpace (pixel shuffle), the reverse a SpaceToDepth.
    3. A chain that leaves the order of elements becomes a Reshape, permuted axes a Permute.
    4. Any other chain with several permutes, or with more axes than accelerators support, becomes a
       Reshape to as few axes as possible, a Permute and a Reshape.
    5. The new layer, or its Permute, takes the name of the first layer.
    """
    names = names_of(network)
    replacements: dict[str, list[Layer]] = {}
    absorbed: set[str] = set()
    tensors: list[Tensor] = []
    for chain in _chains(network):
        new_layers = _simplest(chain, network, names)
        if new_layers is None:
            continue
        first, *others = chain.layers
        replacements[first.name] = new_layers
        absorbed.update(layer.name for layer in others)
        shape, dtype = chain.source, network.tensors[chain.layers[0].output].dtype
        for layer in new_layers[:-1]:
            (shape,) = layer.output_shapes([shape])
            tensors.append(Tensor(layer.output, shape, dtype=dtype))
    if not replacements:
        return network
    layers = [
        new
        for layer in network.layers
        if layer.name not in absorbed
        for new in replacements.get(layer.name, [layer])
    ]
    return network.with_layers(layers, tensors)


@dataclass(frozen=True)
class _MoveChain:
    """Reshapes and permutes in order, the shapes before and after, and the runs of elements."""

    layers: tuple[Layer, ...]
    source: Shape
    result: Shape
    runs: Runs | None

    @property
    def permutes(self) -> int:
        """Number of permutes."""
        return sum(isinstance(layer, Permute) for layer in self.layers)


def _chains(network: Network) -> Iterator[_MoveChain]:
    for end in network.layers:
        if not isinstance(end, Reshape | Permute) or end.inputs[0] not in network.tensors:
            continue
        if _continues(end, network):
            continue
        layers: list[Layer] = [end]
        while (before := network.producers.get(layers[0].inputs[0])) is not None:
            if not isinstance(before, Reshape | Permute) or not _continues(before, network):
                break
            if before.inputs[0] not in network.tensors:
                break
            layers.insert(0, before)
        source = network.shape(layers[0].inputs[0])
        yield _MoveChain(tuple(layers), source, network.shape(end.output), _runs(layers, network))


def _continues(layer: Layer, network: Network) -> bool:
    """Return whether only a reshape or permute reads the output of `layer`."""
    if not is_private(network, layer.output):
        return False
    (reader,) = network.consumers[layer.output]
    return isinstance(reader, Reshape | Permute)


def _runs(layers: Sequence[Layer], network: Network) -> Runs | None:
    """Return the runs of the last layer's output in the first input; None if there are none."""
    source = network.shape(layers[0].inputs[0])
    runs: Runs | None = in_place(source)
    if 0 in source:
        return None
    for layer in layers:
        if isinstance(layer, Permute) and runs is not None:
            runs = permuted(runs, network.shape(layer.inputs[0]), layer.permutation)
    return runs


def _simplest(chain: _MoveChain, network: Network, names: set[str]) -> list[Layer] | None:
    """Return layers with the effect of the chain, if they are fewer or suit more engines.

    New layers get names that are not in `names`, and are added to it.
    """
    if chain.runs is None or not chain.permutes:
        return None
    if len(chain.layers) > 1:
        single = next(_single_layers(chain), None)
        if single is not None:
            return [_in_place_of(chain, single)]
    shapes = [network.shape(layer.output) for layer in chain.layers]
    if chain.permutes < 2 and all(len(shape) <= _MOST_AXES for shape in shapes):
        return None
    return _around_a_permute(*view(chain.runs), chain, names)


def _single_layers(chain: _MoveChain) -> Iterator[Layer]:
    source, result, runs = chain.source, chain.result, chain.runs
    unmoved = in_place(source)
    if runs == unmoved:
        yield Reshape(**_UNCONNECTED, shape=result)
    if source == result and source:
        *outer, channels = source
        for groups in range(2, channels):
            if channels % groups == 0:
                split = (*outer, groups, channels // groups)
                swapped = (*range(len(outer)), len(outer) + 1, len(outer))
                if runs == permuted(unmoved, split, swapped):
                    yield ChannelShuffle(**_UNCONNECTED, groups=groups)
    if len(source) == len(result) == 4:
        yield from _blocks(chain, unmoved)
    for permutation in _permutations(source, result):
        if runs == permuted(unmoved, source, permutation):
            yield Permute(**_UNCONNECTED, permutation=permutation)


def _blocks(chain: _MoveChain, unmoved: Runs) -> Iterator[Layer]:
    """Yield layers that move blocks of channels to pixels, or back."""
    source, result = chain.source, chain.result
    for block in range(2, _LARGEST_BLOCK + 1):
        candidates = (
            DepthToSpace(**_UNCONNECTED, block=block, mode="DCR"),
            DepthToSpace(**_UNCONNECTED, block=block, mode="CRD"),
            SpaceToDepth(**_UNCONNECTED, block=block),
        )
        for layer in candidates:
            try:
                (shape,) = layer.output_shapes([source])
            except InvalidDataError:
                continue
            if shape == result and chain.runs == permuted(unmoved, *layer.view(source)):
                yield layer


def _permutations(source: Shape, result: Shape) -> Iterator[tuple[int, ...]]:
    """Yield permutations of `source` that give the shape `result`."""
    if sorted(source) == sorted(result) and len(source) <= _MOST_AXES:
        for permutation in permutations(range(len(source))):
            if tuple(source[axis] for axis in permutation) == result:
                yield permutation


def _in_place_of(chain: _MoveChain, layer: Layer) -> Layer:
    first, *others = chain.layers
    fused = tuple(name for other in others for name in (other.name, *other.fused))
    return layer.replace(
        name=first.name,
        inputs=first.inputs,
        outputs=chain.layers[-1].outputs,
        fused=(*first.fused, *fused),
    )


def _around_a_permute(
    shape: Shape, permutation: tuple[int, ...], chain: _MoveChain, names: set[str]
) -> list[Layer]:
    """Return a permute of `shape`, with reshapes if source or result have other shapes."""
    layer = _in_place_of(chain, Permute(**_UNCONNECTED, permutation=permutation))
    layers: list[Layer] = [layer]
    if shape != chain.source:
        split = new_name(names, f"{layer.name}.split")
        reshape = Reshape(name=split, inputs=layer.inputs, outputs=(split,), shape=shape)
        layers = [reshape, layer.replace(inputs=(split,))]
    if tuple(shape[axis] for axis in permutation) != chain.result:
        join, last = new_name(names, f"{layer.name}.moved"), layers.pop()
        reshape = Reshape(name=join, inputs=(join,), outputs=last.outputs, shape=chain.result)
        layers += [last.replace(outputs=(join,)), reshape]
    return layers


_LEAST = 5
"""The least taps along an axis of a filter that can be dilated."""


def find_dilations(network: Network) -> Network:
    """Leave out taps that are zero in every channel.

    1. A depthwise Convolution without dilation, whose taps are zero but for every second, third or
       later row and column from the first one to the last, becomes one of those taps, dilated.

    Only depthwise weights are read: they are small.
    """
    rewriter = Rewriter(network)
    for layer in network.layers:
        rewriter.keep(_dilated(layer, network, rewriter))
    return rewriter.finish()


def _dilated(layer: Layer, network: Network, rewriter: Rewriter) -> Layer:
    if not isinstance(layer, Convolution) or not _may_be_dilated(layer, network):
        return layer
    constant = network.constants[layer.weight]
    nonzero = np.any(constant.value() != 0, axis=(2, 3))
    dilations = (_dilation(nonzero.any(axis=1)), _dilation(nonzero.any(axis=0)))
    if dilations == (1, 1):
        return layer
    kernel = tuple(
        (size - 1) // step + 1 for size, step in zip(nonzero.shape, dilations, strict=True)
    )
    weight = rewriter.derive(layer, layer.weight, (*kernel, *constant.shape[2:]), _taps(dilations))
    window = dataclasses.replace(layer.window, kernel=kernel, dilations=dilations)
    return layer.replace(weight=weight, window=window)


def _may_be_dilated(layer: Convolution, network: Network) -> bool:
    return (
        layer.is_depthwise(network.input_shapes(layer)[0][-1])
        and layer.window.dilations == (1, 1)
        and max(layer.window.kernel) >= _LEAST
        and layer.weight in network.constants
    )


def _dilation(nonzero: Array) -> int:
    """Return the step between lines of nonzero taps, 1 if they are not evenly spaced."""
    lines = np.flatnonzero(nonzero)
    if len(lines) < 2 or lines[0] != 0 or lines[-1] != len(nonzero) - 1:
        return 1
    steps = set(np.diff(lines).tolist())
    return int(steps.pop()) if len(steps) == 1 else 1


def _taps(dilations: tuple[int, int]) -> Callable[[Array], Array]:
    vertical, horizontal = dilations
    return lambda weight: np.ascontiguousarray(weight[::vertical, ::horizontal])
