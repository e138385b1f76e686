"""Operators that cut a tensor or extend it: Slice, Split and Pad."""

from __future__ import annotations

import math
from collections.abc import Sequence

from hexsim.layers import AxisSlice, Pad, StridedSlice
from hexsim.onnx_io.importer import Importer
from hexsim.onnx_io.node import Node, NotALayerError, positive_axis


def slice_(node: Node, net: Importer) -> None:
    """Slice forwards; bounds are attributes before opset 10, inputs since."""
    data = net.tensor(node.input(0))
    source = data.source_shape
    starts = net.integers(node, "starts", 1) or ()
    stops = net.integers(node, "ends", 2) or ()
    given = net.integers(node, "axes", 3)
    steps = net.integers(node, "steps", 4) or (1,) * len(starts)
    axes = range(len(starts)) if given is None else given
    if not len(starts) == len(stops) == len(axes) == len(steps):
        raise ValueError("starts, ends, axes and steps differ in length")
    parts = []
    for axis, start, stop, step in zip(axes, starts, stops, steps, strict=True):
        if step < 1:
            raise NotALayerError("walks backwards")
        place = positive_axis(axis, len(source))
        first, last, _ = slice(start, stop, step).indices(source[place])
        if last <= first:
            raise NotALayerError("takes nothing")
        parts.append((place, first, last, step))
    _add(node.name, node, net, parts, node.output)


def split(node: Node, net: Importer) -> None:
    """Split becomes one slice for each output."""
    source = net.tensor(node.input(0)).source_shape
    axis = positive_axis(node.integer("axis", 0), len(source))
    sizes = net.integers(node, "split", 1) or _equal(source[axis], len(node.outputs))
    if len(sizes) != len(node.outputs) or sum(sizes) != source[axis]:
        raise ValueError(
            f"axis {axis} of size {source[axis]} cannot be split into {list(sizes)} "
            f"for {len(node.outputs)} outputs"
        )
    if min(sizes) < 1:
        raise NotALayerError("an output is empty")
    start = 0
    for number, (size, output) in enumerate(zip(sizes, node.outputs, strict=True)):
        name = net.unique(f"{node.name}.{number}") if number else node.name
        if output:
            _add(name, node, net, [(axis, start, start + size, 1)], output)
        start += size


def pad(node: Node, net: Importer) -> None:
    """Pad with a constant; what is added are attributes before opset 11, inputs since."""
    data = net.tensor(node.input(0))
    rank = len(data.shape)
    value_name, axes_name = node.input(2), node.input(3)
    value = float(net.array(value_name).read().item()) if value_name else node.real("value", 0.0)
    if node.text("mode", "constant") != "constant":
        raise NotALayerError("repeats the edge")
    if data.dtype != "float32" or not math.isfinite(value):
        raise NotALayerError("is not float32, or adds what is no number")
    pads = net.integers(node, "pads", 1) or ()
    axes = net.array(axes_name).read().reshape(-1).tolist() if axes_name else range(rank)
    if len(pads) != 2 * len(axes):
        raise ValueError(f"{len(pads)} pads for {len(axes)} axes")
    if min(pads, default=0) < 0:
        raise NotALayerError("removes something")
    begins, ends = [0] * rank, [0] * rank
    for axis, begin, end in zip(axes, pads, pads[len(axes) :], strict=False):
        place = data.order.index(positive_axis(axis, rank))
        begins[place], ends[place] = begin, end
    layer = Pad(
        name=node.name,
        inputs=(data.name,),
        outputs=(node.output,),
        begins=tuple(begins),
        ends=tuple(ends),
        value=value,
    )
    net.add(layer, data.order)


def _equal(size: int, count: int) -> tuple[int, ...]:
    """Equal parts, the last of them smaller if need be."""
    part = -(-size // count)
    return (*(part,) * (count - 1), size - part * (count - 1))


def _add(
    name: str,
    node: Node,
    net: Importer,
    parts: Sequence[tuple[int, int, int, int]],
    output: str,
) -> None:
    """Add the slice of (source axis, start, stop, step); a whole axis is no part."""
    data = net.tensor(node.input(0))
    sliced = tuple(
        AxisSlice(data.order.index(axis), start, stop, step)
        for axis, start, stop, step in parts
        if (start, stop, step) != (0, data.source_shape[axis], 1)
    )
    layer = StridedSlice(name=name, inputs=(data.name,), outputs=(output,), parts=sliced)
    net.add(layer, data.order)


TRANSLATORS = {"Pad": pad, "Slice": slice_, "Split": split}
