"""Operators that take parts of a tensor or extend it: Slice, Split, Pad, Tile, Expand and others.

Gather with constant positions: a slice if they increase by a constant step, else Gather.

ScatterND that overwrites a part of one axis: a Concat of the rest before, updates, rest after.

Exporters write the assignment to a slice like that, with constant positions of all elements.
"""

import math
from collections.abc import Mapping, Sequence

import numpy as np

from hexsim.errors import InvalidDataError
from hexsim.graph.ir import Shape
from hexsim.layers import AxisSlice, Concat, Gather, Pad, StridedSlice, Tile
from hexsim.layers.slices import PadMode
from hexsim.onnx_io.file.axis_order import Order, stored_shape
from hexsim.onnx_io.file.known import Array
from hexsim.onnx_io.file.node import NotALayerError, OnnxNode, positive_axis
from hexsim.onnx_io.read.importer import Importer


def slice_(node: OnnxNode, net: Importer) -> None:
    """Slice; bounds are attributes before opset 10, inputs since. Negative steps are a Gather."""
    data = net.tensor(node.input(0))
    source = data.source_shape
    starts = net.integers(node, "starts", 1) or ()
    stops = net.integers(node, "ends", 2) or ()
    given_axes = net.integers(node, "axes", 3)
    steps = net.integers(node, "steps", 4) or (1,) * len(starts)
    axes = range(len(starts)) if given_axes is None else given_axes
    if not len(starts) == len(stops) == len(axes) == len(steps):
        raise InvalidDataError("starts, ends, axes and steps differ in length")
    if 0 in steps:
        raise InvalidDataError("a step is 0")
    parts, backwards = [], []
    for axis, start, stop, step in zip(axes, starts, stops, steps, strict=True):
        place = positive_axis(axis, len(source))
        bounds = slice(start, stop, step).indices(source[place])
        if not range(*bounds):
            raise NotALayerError("takes nothing")
        if step < 0:
            backwards.append((place, tuple(range(*bounds))))
        else:
            parts.append((place, *bounds))
    name, label = data.name, node.name
    for place, indices in backwards:
        is_last = not parts and place == backwards[-1][0]
        output = node.output if is_last else net.unique(f"{node.output}.backwards")
        order, axis = net.order(name), net.order(name).index(place)
        net.add(Gather(label, (name,), (output,), axis=axis, indices=indices), order)
        name, label = output, net.unique(f"{node.name}.slice")
    if parts or not backwards:
        _add(label, name, net, parts, node.output)


def split(node: OnnxNode, net: Importer) -> None:
    """Split becomes one slice for each output."""
    source = net.tensor(node.input(0)).source_shape
    axis = positive_axis(node.integer("axis", 0), len(source))
    sizes = net.integers(node, "split", 1) or _equal(source[axis], len(node.outputs))
    if len(sizes) != len(node.outputs) or sum(sizes) != source[axis]:
        raise InvalidDataError(
            f"axis {axis} of size {source[axis]} cannot be split into {list(sizes)} "
            f"for {len(node.outputs)} outputs"
        )
    if min(sizes) < 1:
        raise NotALayerError("an output is empty")
    start = 0
    for number, (size, output) in enumerate(zip(sizes, node.outputs, strict=True)):
        name = net.unique(f"{node.name}.{number}") if number else node.name
        if output:
            _add(name, node.input(0), net, [(axis, start, start + size, 1)], output)
        start += size


def pad(node: OnnxNode, net: Importer) -> None:
    """Pad; what is added are attributes before opset 11, inputs since."""
    data = net.tensor(node.input(0))
    rank = len(data.shape)
    value_name, axes_name = node.input(2), node.input(3)
    value = net.number(value_name) if value_name else node.real("value", 0.0)
    mode = node.text("mode", "constant")
    if mode not in _PAD_MODES:
        raise InvalidDataError(f"attribute mode has the unknown value '{mode}'")
    if data.dtype != "float32" or not (math.isfinite(value) or _pads_maxima(node, value, net)):
        raise NotALayerError("is not float32, or pads with a value that is not finite")
    pads = net.integers(node, "pads", 1) or ()
    axes = net.whole_numbers(axes_name) if axes_name else range(rank)
    if len(pads) != 2 * len(axes):
        raise InvalidDataError(f"{len(pads)} pads for {len(axes)} axes")
    begins, ends, name = [0] * rank, [0] * rank, data.name
    cuts = []
    for axis, begin, end in zip(axes, pads, pads[len(axes) :], strict=False):
        source = positive_axis(axis, rank)
        place, size = data.order.index(source), data.source_shape[source]
        begins[place], ends[place] = max(begin, 0), max(end, 0)
        if min(begin, end) < 0:
            cuts.append((source, max(-begin, 0), size + min(end, 0), 1))
    if cuts:
        if _PAD_MODES[mode] != "constant" or any(stop <= start for _, start, stop, _ in cuts):
            raise NotALayerError("removes what it repeats, or everything")
        name = net.unique(f"{node.output}.cut")
        _add(net.unique(f"{node.name}.cut"), data.name, net, cuts, name)
    layer = Pad(
        *node.ends(name), begins=tuple(begins), ends=tuple(ends), value=value, mode=_PAD_MODES[mode]
    )
    net.add(layer, data.order)


def _pads_maxima(node: OnnxNode, value: float, net: Importer) -> bool:
    """Tell whether only maxima over windows read the padding, which never is the maximum."""
    readers = net.facts.readers.get(node.output, [])
    only = len(readers) == net.facts.uses[node.output]
    return value == -math.inf and only and all(reader.op_type == "MaxPool" for reader in readers)


def tile(node: OnnxNode, net: Importer) -> None:
    """Tile by constant repeats."""
    data = net.tensor(node.input(0))
    repeats = net.sizes(node.input(1))
    if len(repeats) != len(data.shape):
        raise InvalidDataError(f"{len(repeats)} repeats for {len(data.shape)} axes")
    _repeat(node.name, data.name, repeats, node.output, net)


def expand(node: OnnxNode, net: Importer) -> None:
    """Expand: axes are added in front, and axes of size one are repeated."""
    data = net.tensor(node.input(0))
    target = [*net.sizes(node.input(1))]
    rank = max(len(target), len(data.shape))
    source = (1,) * (rank - len(data.shape)) + data.source_shape
    target = [1] * (rank - len(target)) + target
    if any(size != 1 and new not in (1, size) for size, new in zip(source, target, strict=True)):
        raise InvalidDataError(f"cannot expand {list(data.source_shape)} to {target}")
    name = data.name
    if rank > len(data.shape):
        name = net.shaped(name, f"{node.output}.{rank}d", source)
    repeats = [new if size == 1 else 1 for size, new in zip(source, target, strict=True)]
    _repeat(node.name, name, repeats, node.output, net)


def _repeat(name: str, data: str, repeats: Sequence[int], output: str, net: Importer) -> None:
    if min(repeats, default=1) < 1:
        raise NotALayerError("leaves nothing")
    order = net.order(data)
    stored_repeats = tuple(int(repeats[axis]) for axis in order)
    net.add(Tile(name, (data,), (output,), repeats=stored_repeats), order)


def _equal(size: int, count: int) -> tuple[int, ...]:
    """Return the sizes of equal parts; the last may be smaller."""
    part = -(-size // count)
    return (*(part,) * (count - 1), size - part * (count - 1))


def _add(
    name: str, source: str, net: Importer, parts: Sequence[tuple[int, int, int, int]], output: str
) -> None:
    data = net.tensor(source)
    sliced = tuple(
        AxisSlice(data.order.index(axis), start, stop, step)
        for axis, start, stop, step in parts
        if (start, stop, step) != (0, data.source_shape[axis], 1)
    )
    layer = StridedSlice(name, (data.name,), (output,), parts=sliced)
    net.add(layer, data.order)


_PAD_MODES: Mapping[str, PadMode] = {
    "constant": "constant",
    "reflect": "reflect",
    "edge": "edge",
    "wrap": "wrap",
}


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
        Gather(name, inputs, outputs, axis=stored_axis, indices=tuple(places))
        if parts is None
        else StridedSlice(name, inputs, outputs, parts=parts)
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
        updates = net.shaped(updates, f"{node.output}.block", block)
    order = net.order(data) if data in net.tensors else net.order(updates)
    start, stop = lows[axis], lows[axis] + sizes[axis]
    parts = [
        _part(node, net, order, (axis, 0, start)),
        net.in_order(updates, order),
        _part(node, net, order, (axis, stop, source[axis])),
    ]
    layer = Concat(*node.ends(*tuple(filter(None, parts))), axis=order.index(axis))
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
    parts = (AxisSlice(order.index(axis), start, stop),)
    return net.put(StridedSlice, f"{node.output}.from_{start}", [data], order, parts=parts)


TRANSLATORS = {
    "Expand": expand,
    "Pad": pad,
    "Slice": slice_,
    "Split": split,
    "Tile": tile,
    "Gather": gather,
    "ScatterND": scatter_nd,
}
