"""ScatterND that overwrites a part of one axis: a Concat of the rest before, updates, rest after.

Exporters write the assignment to a slice like that, with constant positions of all elements.
"""

import numpy as np

from hexsim.errors import InvalidDataError
from hexsim.graph.ir import Shape
from hexsim.layers import AxisSlice, Concat, StridedSlice
from hexsim.onnx_io.file.axis_order import Order, stored_shape
from hexsim.onnx_io.file.known import Array
from hexsim.onnx_io.file.node import NotALayerError, OnnxNode
from hexsim.onnx_io.read.importer import Importer


def scatter_nd(node: OnnxNode, net: Importer) -> None:
    """Translate to slices and a Concat, or to the updates alone if they overwrite everything."""
    if node.text("reduction", "none") != "none":
        raise NotALayerError("combines what it writes with what is there")
    data, updates = node.input(0), net.tensor(node.input(2)).name
    source, indices = net.source_shape(data), net.array(node.input(1))
    lows, sizes = _block(np.reshape(net.whole_numbers(indices.name), indices.shape), source)
    block = (*sizes, *source[len(sizes) :])
    partial_axes = [axis for axis, size in enumerate(block) if size != source[axis]]
    if not partial_axes:
        net.reshape(node.name, updates, source, node.output)
        return
    if len(partial_axes) > 1:
        raise NotALayerError("writes a block that is smaller along several axes")
    (axis,) = partial_axes
    if net.source_shape(updates) != block:
        reshaped = net.unique(f"{node.output}.block")
        net.reshape(reshaped, updates, block, reshaped)
        updates = reshaped
    order = net.order(data) if data in net.tensors else net.order(updates)
    start, stop = lows[axis], lows[axis] + sizes[axis]
    parts = [
        _part(node, net, order, (axis, 0, start)),
        net.in_order(updates, order),
        _part(node, net, order, (axis, stop, source[axis])),
    ]
    layer = Concat(
        name=node.name,
        inputs=tuple(filter(None, parts)),
        outputs=(node.output,),
        axis=order.index(axis),
    )
    net.add(layer, order)


def _block(indices: Array, target: Shape) -> tuple[Shape, Shape]:
    """Return the start and size of the block that the positions form along the leading axes.

    `target` is the shape of the overwritten tensor; InvalidDataError for a position outside it.
    """
    count = indices.shape[-1] if indices.shape else 0
    if not 1 <= count <= len(target):
        raise InvalidDataError(f"positions along {count} of {len(target)} axes")
    rows = indices.reshape(-1, count)
    if not rows.size or rows.min() < 0:
        raise NotALayerError("writes nothing, or counts from the end")
    if (rows.max(axis=0) >= target[:count]).any():
        raise InvalidDataError(f"positions {rows.max(axis=0).tolist()} of {list(target[:count])}")
    lows, sizes = rows.min(axis=0), np.ptp(rows, axis=0) + 1
    if np.prod(sizes, dtype=np.int64) != len(rows):
        raise NotALayerError("writes no block")
    grid = np.indices(tuple(sizes)).reshape(len(sizes), -1).T
    if not np.array_equal(grid + lows, rows):
        raise NotALayerError("writes no block in order")
    return tuple(map(int, lows)), tuple(map(int, sizes))


def _part(node: OnnxNode, net: Importer, order: Order, span: tuple[int, int, int]) -> str:
    """Name the slice `span` (source axis, start, stop) of the overwritten tensor; "" if empty."""
    data, (axis, start, stop) = node.input(0), span
    if start == stop:
        return ""
    if data in net.known:
        shape = list(net.source_shape(data))
        shape[axis] = stop - start
        form = f"part_{axis}_{start}_{stop}_{''.join(map(str, order))}"
        return net.constant(
            data,
            form,
            stored_shape(tuple(shape), order),
            lambda array: array.take(range(start, stop), axis).transpose(order),
        )
    name = net.unique(f"{node.output}.from_{start}")
    part = AxisSlice(order.index(axis), start, stop)
    net.add(StridedSlice(name=name, inputs=(data,), outputs=(name,), parts=(part,)), order)
    return name


TRANSLATORS = {"ScatterND": scatter_nd}
