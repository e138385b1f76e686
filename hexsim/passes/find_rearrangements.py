"""Finds the one layer that several reshapes and permutes are.

As with functions, a pattern is known by what it does: where each element comes from.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import permutations
from typing import TypedDict

from hexsim.errors import InvalidDataError
from hexsim.graph.ir import Layer, Network, Shape, Tensor
from hexsim.layers import ChannelShuffle, DepthToSpace, Permute, Reshape, SpaceToDepth
from hexsim.passes._moves import Runs, in_place, permuted, view
from hexsim.passes._rewriter import is_private, names_of, new_name

_MOST_AXES = 5
"""Of a tensor on an accelerator."""
_LARGEST_BLOCK = 8
"""Of pixels; larger ones are not looked for."""


class _Ends(TypedDict):
    """What a layer is called and what it connects."""

    name: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]


_NOWHERE = _Ends(name="", inputs=(), outputs=())


def find_rearrangements(network: Network) -> Network:
    """Replace a chain of reshapes and permutes by what it does.

    1. A chain ends where somebody else reads what it writes; one without a permute stays.
    2. What swaps groups of the channels is a ChannelShuffle, what makes pixels of blocks of
       channels a DepthToSpace (pixel shuffle), the reverse a SpaceToDepth.
    3. What leaves all elements where they are is one Reshape, and what permutes axes one Permute.
    4. Anything else with several permutes, or with a tensor of more axes than accelerators take, is
       a Reshape to as few axes as it needs, a Permute and a Reshape.
    5. The new layer, or its Permute, takes the name of the first.
    """
    taken = names_of(network)
    made: dict[str, list[Layer]] = {}
    gone: set[str] = set()
    tensors: list[Tensor] = []
    for chain in _chains(network):
        found = _simplest(chain, network, taken)
        if found is None:
            continue
        first, *others = chain.layers
        made[first.name] = found
        gone.update(layer.name for layer in others)
        shape, dtype = chain.source, network.tensors[chain.layers[0].output].dtype
        for layer in found[:-1]:
            (shape,) = layer.output_shapes([shape])
            tensors.append(Tensor(layer.output, shape, dtype=dtype))
    layers = [
        new
        for layer in network.layers
        if layer.name not in gone
        for new in made.get(layer.name, [layer])
    ]
    return network.with_layers(layers, tensors)


@dataclass(frozen=True)
class _MoveChain:
    """Reshapes and permutes in order, the shapes at both ends, and where elements come from."""

    layers: tuple[Layer, ...]
    source: Shape
    result: Shape
    runs: Runs | None

    @property
    def permutes(self) -> int:
        """How many permutes there are."""
        return sum(isinstance(layer, Permute) for layer in self.layers)


def _chains(network: Network) -> Iterator[_MoveChain]:
    """Yield all chains that are as long as they can be."""
    for end in network.layers:
        if not isinstance(end, Reshape | Permute) or end.inputs[0] not in network.tensors:
            continue
        if _goes_on(end, network):
            continue
        layers: list[Layer] = [end]
        while (before := network.producers.get(layers[0].inputs[0])) is not None:
            if not isinstance(before, Reshape | Permute) or not _goes_on(before, network):
                break
            if before.inputs[0] not in network.tensors:
                break
            layers.insert(0, before)
        source = network.shape(layers[0].inputs[0])
        yield _MoveChain(tuple(layers), source, network.shape(end.output), _runs(layers, network))


def _goes_on(layer: Layer, network: Network) -> bool:
    """True if only a reshape or permute reads what `layer` writes."""
    if not is_private(network, layer.output):
        return False
    (reader,) = network.consumers[layer.output]
    return isinstance(reader, Reshape | Permute)


def _runs(layers: Sequence[Layer], network: Network) -> Runs | None:
    """Where the elements that the last layer writes come from; None if that is not so simple."""
    source = network.shape(layers[0].inputs[0])
    runs: Runs | None = in_place(source)
    if 0 in source:
        return None
    for layer in layers:
        if isinstance(layer, Permute) and runs is not None:
            runs = permuted(runs, network.shape(layer.inputs[0]), layer.permutation)
    return runs


def _simplest(chain: _MoveChain, network: Network, taken: set[str]) -> list[Layer] | None:
    """The layers that do what the chain does, if they are fewer or fit more engines.

    New layers get names that are not `taken`, which they then are.
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
    return _around_a_permute(*view(chain.runs), chain, taken)


def _single_layers(chain: _MoveChain) -> Iterator[Layer]:
    """Layers of which each alone does what the chain does."""
    source, result, runs = chain.source, chain.result, chain.runs
    whole = in_place(source)
    if runs == whole:
        yield Reshape(**_NOWHERE, shape=result)
    if source == result and source:
        *outer, channels = source
        for groups in range(2, channels):
            if channels % groups == 0:
                split = (*outer, groups, channels // groups)
                swap = (*range(len(outer)), len(outer) + 1, len(outer))
                if runs == permuted(whole, split, swap):
                    yield ChannelShuffle(**_NOWHERE, groups=groups)
    if len(source) == len(result) == 4:
        yield from _blocks(chain, whole)
    for permutation in _permutations(source, result):
        if runs == permuted(whole, source, permutation):
            yield Permute(**_NOWHERE, permutation=permutation)


def _blocks(chain: _MoveChain, whole: Runs) -> Iterator[Layer]:
    """Blocks of channels to pixels, and back."""
    source, result = chain.source, chain.result
    for block in range(2, _LARGEST_BLOCK + 1):
        made = (
            DepthToSpace(**_NOWHERE, block=block, mode="DCR"),
            DepthToSpace(**_NOWHERE, block=block, mode="CRD"),
            SpaceToDepth(**_NOWHERE, block=block),
        )
        for layer in made:
            try:
                (shape,) = layer.output_shapes([source])
            except InvalidDataError:
                continue
            if shape == result and chain.runs == permuted(whole, *layer.view(source)):
                yield layer


def _permutations(source: Shape, result: Shape) -> Iterator[tuple[int, ...]]:
    """Permutations that make an array of shape `result`."""
    if sorted(source) == sorted(result) and len(source) <= _MOST_AXES:
        for permutation in permutations(range(len(source))):
            if tuple(source[axis] for axis in permutation) == result:
                yield permutation


def _in_place_of(chain: _MoveChain, layer: Layer) -> Layer:
    """The layer with the ends and the members of the chain."""
    first, *others = chain.layers
    fused = tuple(name for other in others for name in (other.name, *other.fused))
    return layer.replace(
        name=first.name,
        inputs=first.inputs,
        outputs=chain.layers[-1].outputs,
        fused=(*first.fused, *fused),
    )


def _around_a_permute(
    shape: Shape, permutation: tuple[int, ...], chain: _MoveChain, taken: set[str]
) -> list[Layer]:
    """A permute of `shape`, with reshapes where the ends have other shapes."""
    layer = _in_place_of(chain, Permute(**_NOWHERE, permutation=permutation))
    layers: list[Layer] = [layer]
    if shape != chain.source:
        split = new_name(taken, f"{layer.name}.split")
        reshape = Reshape(name=split, inputs=layer.inputs, outputs=(split,), shape=shape)
        layers = [reshape, layer.replace(inputs=(split,))]
    if tuple(shape[axis] for axis in permutation) != chain.result:
        join, last = new_name(taken, f"{layer.name}.moved"), layers.pop()
        reshape = Reshape(name=join, inputs=(join,), outputs=last.outputs, shape=chain.result)
        layers += [last.replace(outputs=(join,)), reshape]
    return layers
