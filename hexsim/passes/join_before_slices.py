"""Gives a Gather with one index the form of a slice."""

from hexsim.graph.ir import Layer, Network, Shape, Tensor
from hexsim.layers import AxisSlice, Reshape, StridedSlice
from hexsim.passes._rewriter import is_private, names_of
from hexsim.texts.names import new_name


def join_before_slices(network: Network) -> Network:
    """Join axes before they are sliced instead of after.

    1. A slice that takes one position of an axis, followed by a Reshape that joins this axis with
       the next one, becomes a Reshape that joins the two axes and a slice of the joined one. The
       slice keeps its name.
    2. Several such slices of one axis share the Reshape; it is named after the first.
    """
    names = names_of(network)
    axes = {layer.name: _axis(layer, network) for layer in network.layers}
    layers: list[Layer] = []
    tensors: list[Tensor] = []
    reshaped: dict[tuple[str, int], str] = {}
    absorbed: set[str] = set()
    for layer in network.layers:
        axis = axes[layer.name]
        if layer.name in absorbed:
            continue
        if axis is None:
            layers.append(layer)
            continue
        assert isinstance(layer, StridedSlice)
        (reshape,) = network.consumers[layer.output]
        (source,) = layer.inputs
        shape = _joined(network.shape(source), axis)
        if (source, axis) not in reshaped:
            name = new_name(names, f"{layer.name}.joined")
            reshaped[source, axis] = name
            tensors.append(Tensor(name, shape, dtype=network.tensors[source].dtype))
            layers.append(Reshape(name=name, inputs=(source,), outputs=(name,), shape=shape))
        (part,), size = layer.parts, network.shape(source)[axis + 1]
        start = part.start * size
        absorbed.add(reshape.name)
        layers.append(
            layer.replace(
                inputs=(reshaped[source, axis],),
                outputs=reshape.outputs,
                fused=(*layer.fused, reshape.name, *reshape.fused),
                parts=(AxisSlice(axis, start, start + size, 1),),
            )
        )
    return network.with_layers(layers, tensors)


def _axis(layer: Layer, network: Network) -> int | None:
    """Return the axis that is sliced to one position and then joined with the next."""
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
    """Return the shape with an axis and the next joined."""
    return (*shape[:axis], shape[axis] * shape[axis + 1], *shape[axis + 2 :])
