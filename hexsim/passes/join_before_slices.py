"""Gives a Gather with one index the form of a slice."""

from __future__ import annotations

from hexsim.graph.ir import Layer, Network, Shape, Tensor
from hexsim.layers import AxisSlice, Reshape, StridedSlice
from hexsim.passes._rewriter import is_private, names_of, new_name


def join_before_slices(network: Network) -> Network:
    """Join axes before they are sliced, not after.

    1. A slice that takes one place of an axis, and a Reshape behind it that joins this axis with
       the next one, become a Reshape that joins the two axes and a slice of the joined one. The
       slice keeps its name.
    2. Several such slices of one axis share the Reshape; it is named after the first.
    """
    taken = names_of(network)
    behind = {layer.name: _axis(layer, network) for layer in network.layers}
    layers: list[Layer] = []
    tensors: list[Tensor] = []
    shared: dict[tuple[str, int], str] = {}
    gone: set[str] = set()
    for layer in network.layers:
        axis = behind[layer.name]
        if layer.name in gone:
            continue
        if axis is None:
            layers.append(layer)
            continue
        assert isinstance(layer, StridedSlice)
        (reshape,) = network.consumers[layer.output]
        (source,) = layer.inputs
        shape = _joined(network.shape(source), axis)
        if (source, axis) not in shared:
            name = new_name(taken, f"{layer.name}.joined")
            shared[source, axis] = name
            tensors.append(Tensor(name, shape, dtype=network.tensors[source].dtype))
            layers.append(Reshape(name=name, inputs=(source,), outputs=(name,), shape=shape))
        (part,), size = layer.parts, network.shape(source)[axis + 1]
        start = part.start * size
        gone.add(reshape.name)
        layers.append(
            layer.replace(
                inputs=(shared[source, axis],),
                outputs=reshape.outputs,
                fused=(*layer.fused, reshape.name, *reshape.fused),
                parts=(AxisSlice(axis, start, start + size, 1),),
            )
        )
    return network.with_layers(layers, tensors)


def _axis(layer: Layer, network: Network) -> int | None:
    """The axis of which a slice takes one place that is then joined with the next axis."""
    if not isinstance(layer, StridedSlice) or len(layer.parts) != 1:
        return None
    if layer.inputs[0] not in network.tensors or not is_private(network, layer.output):
        return None
    (part,), shape = layer.parts, network.shape(layer.output)
    (reader,) = network.consumers[layer.output]
    axis = part.axis
    if shape[axis] != 1 or axis == len(shape) - 1 or not isinstance(reader, Reshape):
        return None
    return axis if reader.shape == _joined(shape, axis) else None


def _joined(shape: Shape, axis: int) -> Shape:
    """The shape once an axis and the next are one."""
    return (*shape[:axis], shape[axis] * shape[axis + 1], *shape[axis + 2 :])
