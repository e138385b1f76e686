"""Slices of tensors and of known arrays along source axes."""

from collections.abc import Mapping

from hexsim.layers import AxisSlice, StridedSlice
from hexsim.onnx_io.file.axis_order import identity
from hexsim.onnx_io.read.importer import Importer


def cut(net: Importer, name: str, label: str, spans: Mapping[int, tuple[int, int]]) -> str:
    """Name the slice of `name` from start to stop along each axis in `spans`.

    The slice of a tensor is in source order, that of a known array is a known array. It is named
    `label`, made unique; if it is all of `name`, that is returned.
    """
    shape = net.source_shape(name)
    spans = {axis: span for axis, span in spans.items() if span != (0, shape[axis])}
    if not spans:
        return name
    if name in net.known:
        places = tuple(slice(*spans.get(axis, (0, size))) for axis, size in enumerate(shape))
        sizes = tuple(place.stop - place.start for place in places)
        return net.rearranged(name, label, sizes, lambda array: array[places])
    label = net.unique(label)
    parts = tuple(AxisSlice(axis, *span) for axis, span in spans.items())
    source = net.source_order(name)
    layer = StridedSlice(name=label, inputs=(source,), outputs=(label,), parts=parts)
    net.add(layer, identity(len(shape)))
    return label
