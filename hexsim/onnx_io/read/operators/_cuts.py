"""Parts of tensors, and of known arrays, along the axes of the file."""

from __future__ import annotations

from collections.abc import Mapping

from hexsim.layers import AxisSlice, StridedSlice
from hexsim.onnx_io.file.axis_order import identity
from hexsim.onnx_io.file.known import Array, Known
from hexsim.onnx_io.read.importer import Importer


def cut(net: Importer, name: str, label: str, spans: Mapping[int, tuple[int, int]]) -> str:
    """Name the part of `name` that has, of each axis in `spans`, start to stop.

    A tensor becomes a slice of itself in source order, a known array another one. Either is named
    `label`, made unique; what is whole anyway is returned as it is.
    """
    shape = net.source_shape(name)
    spans = {axis: span for axis, span in spans.items() if span != (0, shape[axis])}
    if not spans:
        return name
    label = net.unique(label)
    if name in net.known:
        known = net.known[name]
        places = tuple(slice(*spans.get(axis, (0, size))) for axis, size in enumerate(shape))

        def part() -> Array:
            return known.read()[places]

        sizes = tuple(place.stop - place.start for place in places)
        net.known[label] = Known(label, sizes, known.dtype, part)
        return label
    parts = tuple(AxisSlice(axis, *span) for axis, span in spans.items())
    source = net.source_order(name)
    layer = StridedSlice(name=label, inputs=(source,), outputs=(label,), parts=parts)
    net.add(layer, identity(len(shape)))
    return label
