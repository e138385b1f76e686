"""Gather with constant positions: a slice if they increase by a constant step, else Gather."""

import math

from hexsim.errors import InvalidDataError
from hexsim.layers import AxisSlice, Gather, StridedSlice
from hexsim.onnx_io.file.node import NotALayerError, OnnxNode, positive_axis
from hexsim.onnx_io.read.importer import Importer


def gather(node: OnnxNode, net: Importer) -> None:
    """Translate Gather; a Reshape replaces the axis by the axes of the positions."""
    data, indices = net.tensor(node.input(0)), net.array(node.input(1))
    source = data.source_shape
    axis = positive_axis(node.integer("axis", 0), len(source))
    places = [*net.whole_numbers(indices.name)]
    if not places:
        raise NotALayerError("takes nothing")
    if not all(-source[axis] <= place < source[axis] for place in places):
        raise InvalidDataError(f"positions {min(places)} to {max(places)} of {source[axis]}")
    places = [place % source[axis] for place in places]
    target = (*source[:axis], *indices.shape, *source[axis + 1 :])
    gathered = (*source[:axis], math.prod(indices.shape), *source[axis + 1 :])
    result = node.output if target == gathered else net.unique(f"{node.output}.taken")
    stored_axis = data.order.index(axis)
    parts = _slice(stored_axis, places, source[axis])
    name, inputs, outputs = node.name, (data.name,), (result,)
    layer = (
        Gather(name=name, inputs=inputs, outputs=outputs, axis=stored_axis, indices=tuple(places))
        if parts is None
        else StridedSlice(name=name, inputs=inputs, outputs=outputs, parts=parts)
    )
    net.add(layer, data.order)
    if result != node.output:
        net.reshape(net.unique(f"{node.name}.shape"), result, target, node.output)


def _slice(axis: int, places: list[int], size: int) -> tuple[AxisSlice, ...] | None:
    """Return the parts of a slice that takes `places` of `size`; None if no slice does."""
    step = places[1] - places[0] if len(places) > 1 else 1
    if step < 1 or places != list(range(places[0], places[-1] + 1, step)):
        return None
    if places == list(range(size)):
        return ()
    return (AxisSlice(axis, places[0], places[-1] + 1, step),)


TRANSLATORS = {"Gather": gather}
