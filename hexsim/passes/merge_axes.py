"""Lets a permute of many axes move fewer: neighbours that stay neighbours count as one.

No runtime but the CPU has tensors of more than five axes. Networks that cut an image into windows
or blocks write six, between two reshapes, of which the permute needs three or four.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from hexsim.graph.ir import Layer, Network, Shape, Tensor
from hexsim.layers import Permute, Reshape

_MOST_AXES = 5


def merge_axes(network: Network) -> Network:
    """Put permutes of more than five axes between reshapes.

    1. Axes of size one are left out; input axes that follow each other in the output are one.
    2. The reshapes around it join those that make and read the tensors of many axes
       (`remove_no_ops`), which are gone then unless somebody else reads them.
    """
    names = {*network.tensors, *network.constants, *(layer.name for layer in network.layers)}
    layers: list[Layer] = []
    tensors: list[Tensor] = []
    for layer in network.layers:
        if not isinstance(layer, Permute) or len(layer.permutation) <= _MOST_AXES:
            layers.append(layer)
            continue
        dtype = network.tensors[layer.output].dtype
        shape, permutation = merged(network.shape(layer.inputs[0]), layer.permutation)
        before, behind = _new(names, f"{layer.name}.split"), _new(names, f"{layer.name}.moved")
        moved = layer.replace(inputs=(before,), outputs=(behind,), permutation=permutation)
        layers += [
            Reshape(name=before, inputs=layer.inputs, outputs=(before,), shape=shape),
            moved,
            Reshape(
                name=behind,
                inputs=(behind,),
                outputs=layer.outputs,
                shape=network.shape(layer.output),
            ),
        ]
        (result,) = moved.output_shapes([shape])
        tensors += [Tensor(before, shape, dtype=dtype), Tensor(behind, result, dtype=dtype)]
    return network.with_layers(layers, tensors)


def merged(shape: Shape, permutation: Sequence[int]) -> tuple[Shape, tuple[int, ...]]:
    """Return a shape of as few axes as possible and the permutation that does the same to it."""
    long = [axis for axis in range(len(shape)) if shape[axis] > 1]
    groups = [*_runs([long.index(axis) for axis in permutation if axis in long])]
    order = sorted(range(len(groups)), key=lambda number: groups[number][0])
    sizes = []
    for number in order:
        size = 1
        for place in groups[number]:
            size *= shape[long[place]]
        sizes.append(size)
    return tuple(sizes), tuple(order.index(number) for number in range(len(groups)))


def _runs(places: Sequence[int]) -> Iterator[list[int]]:
    """Neighbours that count up by one, together."""
    run: list[int] = []
    for place in places:
        if run and place != run[-1] + 1:
            yield run
            run = []
        run.append(place)
    if run:
        yield run


def _new(names: set[str], name: str) -> str:
    """Return `name`, with a number if it is among `names`, and add it to them."""
    candidate, count = name, 1
    while candidate in names:
        candidate, count = f"{name}_{count}", count + 1
    names.add(candidate)
    return candidate
