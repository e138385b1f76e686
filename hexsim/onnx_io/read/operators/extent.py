"""Operators that slice a tensor or extend it: Slice, Split, Pad, Tile and Expand."""

import math
from collections.abc import Mapping, Sequence

from hexsim.errors import InvalidDataError
from hexsim.layers import AxisSlice, Gather, Pad, StridedSlice, Tile
from hexsim.layers.pad import PadMode
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
        net.add(
            Gather(name=label, inputs=(name,), outputs=(output,), axis=axis, indices=indices), order
        )
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
    if data.dtype != "float32" or not math.isfinite(value):
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
        name=node.name,
        inputs=(name,),
        outputs=(node.output,),
        begins=tuple(begins),
        ends=tuple(ends),
        value=value,
        mode=_PAD_MODES[mode],
    )
    net.add(layer, data.order)


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
        name = net.unique(f"{node.output}.{rank}d")
        net.reshape(name, data.name, source, name)
    repeats = [new if size == 1 else 1 for size, new in zip(source, target, strict=True)]
    _repeat(node.name, name, repeats, node.output, net)


def _repeat(name: str, data: str, repeats: Sequence[int], output: str, net: Importer) -> None:
    """Add the Tile of tensor `data`; `repeats` are in source order."""
    if min(repeats, default=1) < 1:
        raise NotALayerError("leaves nothing")
    order = net.order(data)
    stored_repeats = tuple(int(repeats[axis]) for axis in order)
    net.add(Tile(name=name, inputs=(data,), outputs=(output,), repeats=stored_repeats), order)


def _equal(size: int, count: int) -> tuple[int, ...]:
    """Return the sizes of equal parts; the last may be smaller."""
    part = -(-size // count)
    return (*(part,) * (count - 1), size - part * (count - 1))


def _add(
    name: str, source: str, net: Importer, parts: Sequence[tuple[int, int, int, int]], output: str
) -> None:
    """Add the slice of `source`; a part is (source axis, start, stop, step)."""
    data = net.tensor(source)
    sliced = tuple(
        AxisSlice(data.order.index(axis), start, stop, step)
        for axis, start, stop, step in parts
        if (start, stop, step) != (0, data.source_shape[axis], 1)
    )
    layer = StridedSlice(name=name, inputs=(data.name,), outputs=(output,), parts=sliced)
    net.add(layer, data.order)


_PAD_MODES: Mapping[str, PadMode] = {
    "constant": "constant",
    "reflect": "reflect",
    "edge": "edge",
    "wrap": "wrap",
}

TRANSLATORS = {"Expand": expand, "Pad": pad, "Slice": slice_, "Split": split, "Tile": tile}
