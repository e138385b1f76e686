"""Layers that move values: Concat, Slice, Reshape, Flatten, Crop, Tile, Permute and copies."""

import math
from itertools import pairwise

from hexsim.frameworks.caffe.description import CaffeLayer, Shape
from hexsim.frameworks.caffe.graph import CaffeGraph
from hexsim.frameworks.caffe.layers._shapes import axis_of
from hexsim.frameworks.caffe.parameters import Parameters


def copies(layer: CaffeLayer, net: CaffeGraph) -> None:
    """Add an Identity for each output: Split copies its input, and so does Dropout in inference."""
    for output in layer.outputs:
        net.add(layer, "Identity", layer.inputs, net.shape(layer), output)


def concat(layer: CaffeLayer, net: CaffeGraph) -> None:
    """Concat."""
    shape = net.shape(layer)
    axis = _axis(layer, layer.fields.message("concat_param"), "concat_dim", len(shape))
    size = 0
    for position in range(len(layer.inputs)):
        other = net.shape(layer, position)
        if (*other[:axis], *other[axis + 1 :]) != (*shape[:axis], *shape[axis + 1 :]):
            raise layer.error(f"its inputs have the shapes {list(shape)} and {list(other)}")
        size += other[axis]
    net.add(layer, "Concat", layer.inputs, _with(shape, axis, size), axis=axis)


def cut(layer: CaffeLayer, net: CaffeGraph) -> None:
    """Add a Split at `slice_point`, or into equal parts."""
    shape, fields = net.shape(layer), layer.fields.message("slice_param")
    axis = _axis(layer, fields, "slice_dim", len(shape))
    points, parts, size = fields.values("slice_point"), len(layer.outputs), shape[axis]
    if points:
        edges = (0, *points, size)
        if len(points) != parts - 1 or list(edges) != sorted(set(edges)):
            raise layer.error(
                f"'slice_point' {list(points)} does not cut {size} into {parts} parts"
            )
        sizes = [end - begin for begin, end in pairwise(edges)]
    elif size % parts:
        raise layer.error(f"it cuts {size} into {parts} equal parts, and the division has a rest")
    else:
        sizes = [size // parts] * parts
    outputs = {
        name: _with(shape, axis, size) for name, size in zip(layer.outputs, sizes, strict=True)
    }
    lengths = net.constant(layer, "sizes", sizes, "int64")
    net.add_with(layer, "Split", [layer.inputs[0], lengths], outputs, axis=axis)


def _axis(layer: CaffeLayer, fields: Parameters, old_name: str, rank: int) -> int:
    """Return 'axis', or the value of its old name; the default is 1."""
    if fields.has(old_name) and fields.has("axis"):
        raise layer.error(f"it has 'axis' and '{old_name}', its old name; give one of them")
    name = old_name if fields.has(old_name) else "axis"
    return axis_of(layer, fields.value(name, 1), rank, name)


def _with(shape: Shape, axis: int, size: int) -> Shape:
    return (*shape[:axis], size, *shape[axis + 1 :])


def flatten(layer: CaffeLayer, net: CaffeGraph) -> None:
    """Merge the axes from `axis` to `end_axis` into one."""
    shape, fields = net.shape(layer), layer.fields.message("flatten_param")
    begin = axis_of(layer, fields.value("axis", 1), len(shape))
    end = axis_of(layer, fields.value("end_axis", -1), len(shape), "end_axis")
    if end < begin:
        raise layer.error(f"'end_axis' {end} comes before 'axis' {begin}")
    inner = math.prod(shape[begin : end + 1])
    _reshape(layer, net, (*shape[:begin], inner, *shape[end + 1 :]))


def reshape(layer: CaffeLayer, net: CaffeGraph) -> None:
    """Replace the sizes from `axis` on: 0 copies a size of the input, -1 is computed."""
    shape, fields = net.shape(layer), layer.fields.message("reshape_param")
    axis, count = fields.value("axis", 0), fields.value("num_axes", -1)
    dims = fields.message("shape").values("dim")
    rank = len(shape)
    begin = axis if axis >= 0 else rank + axis + 1
    end = rank if count == -1 else begin + count
    if not 0 <= begin <= end <= rank:
        raise layer.error(f"'axis' {axis} and 'num_axes' {count} do not fit {rank} axes")
    sizes = []
    for position, size in enumerate(dims):
        if size < -1 or (size == 0 and begin + position >= rank):
            raise layer.error(f"'dim' {size} at position {position} is not a valid size")
        sizes.append(shape[begin + position] if size == 0 else size)
    fixed = math.prod(size for size in sizes if size != -1)
    inner = math.prod(shape[begin:end])
    if sizes.count(-1) > 1 or (-1 in sizes and inner % fixed):
        raise layer.error(f"'dim' {list(dims)} does not fit {inner} values")
    sizes = [inner // fixed if size == -1 else size for size in sizes]
    if math.prod(sizes) != inner:
        raise layer.error(f"it reshapes {inner} values to {list(sizes)}")
    _reshape(layer, net, (*shape[:begin], *sizes, *shape[end:]))


def _reshape(layer: CaffeLayer, net: CaffeGraph, shape: Shape) -> None:
    target = net.constant(layer, "shape", shape, "int64")
    net.add(layer, "Reshape", [layer.inputs[0], target], shape)


def crop(layer: CaffeLayer, net: CaffeGraph) -> None:
    """Cut the first input to the size of the second, from `axis` on."""
    shape, other = net.shape(layer), net.shape(layer, 1)
    fields = layer.fields.message("crop_param")
    axis, offsets = axis_of(layer, fields.value("axis", 2), len(shape)), fields.values("offset")
    if len(other) != len(shape):
        raise layer.error(f"its inputs have the shapes {list(shape)} and {list(other)}")
    count = len(shape) - axis
    if len(offsets) not in (0, 1, count):
        raise layer.error(f"it has {len(offsets)} values of 'offset' for {count} axes")
    begins = list(offsets * count if len(offsets) == 1 else offsets or [0] * count)
    stops = [begin + size for begin, size in zip(begins, other[axis:], strict=True)]
    if min(begins) < 0 or any(end > size for end, size in zip(stops, shape[axis:], strict=True)):
        raise layer.error(f"it cuts {begins} to {stops} out of {list(shape[axis:])}")
    axes = list(range(axis, len(shape)))
    bounds = [
        net.constant(layer, role, values, "int64")
        for role, values in (("begins", begins), ("ends", stops), ("axes", axes))
    ]
    net.add(layer, "Slice", [layer.inputs[0], *bounds], (*shape[:axis], *other[axis:]))


def tile(layer: CaffeLayer, net: CaffeGraph) -> None:
    """Repeat the input along one axis."""
    shape, fields = net.shape(layer), layer.fields.message("tile_param")
    axis = axis_of(layer, fields.value("axis", 1), len(shape))
    times = fields.positive("tiles")
    repeats = [times if index == axis else 1 for index in range(len(shape))]
    counts = net.constant(layer, "repeats", repeats, "int64")
    net.add(layer, "Tile", [layer.inputs[0], counts], _with(shape, axis, shape[axis] * times))


def permute(layer: CaffeLayer, net: CaffeGraph) -> None:
    """Add a Transpose (SSD); axes that are not in `order` follow in their own order."""
    shape = net.shape(layer)
    order = list(layer.fields.message("permute_param").values("order"))
    if len(set(order)) < len(order) or any(not 0 <= axis < len(shape) for axis in order):
        raise layer.error(f"'order' {order} does not fit {len(shape)} axes")
    order += [axis for axis in range(len(shape)) if axis not in order]
    net.add(layer, "Transpose", layer.inputs, tuple(shape[n] for n in order), perm=order)


def shuffle(layer: CaffeLayer, net: CaffeGraph) -> None:
    """Take channels from the groups in turn (ShuffleNet)."""
    shape, fields = net.shape(layer), layer.fields.message("shuffle_channel_param")
    group = fields.positive("group", 1)
    if len(shape) != 4 or shape[1] % group:
        raise layer.error(f"{group} groups do not fit the shape {list(shape)}")
    batch, channels, *size = shape
    grouped, swapped_shape = (
        (batch, group, channels // group, *size), (batch, channels // group, group, *size)
    )  # fmt: skip
    target = net.constant(layer, "groups", grouped, "int64")
    data = net.add(layer, "Reshape", [layer.inputs[0], target], grouped, net.inner(layer, "apart"))
    swapped = net.inner(layer, "turned")
    net.add(layer, "Transpose", [data], swapped_shape, swapped, perm=[0, 2, 1, 3, 4])
    shape_name = net.constant(layer, "shape", shape, "int64")
    net.add(layer, "Reshape", [swapped, shape_name], shape)


COUNTS = {
    **{"Concat": (None, 1), "Crop": (2, 1)},
    **{"Dropout": (1, None), "Slice": (1, None), "Split": (1, None)},
}
TRANSLATORS = {
    "Concat": concat,
    "Crop": crop,
    "Dropout": copies,
    "Flatten": flatten,
    "Permute": permute,
    "Reshape": reshape,
    "ShuffleChannel": shuffle,
    "Slice": cut,
    "Split": copies,
    "Tile": tile,
}
