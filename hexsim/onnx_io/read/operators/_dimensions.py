"""1-D and 3-D operators, read as operators over images, and the attributes of their windows.

1-D operators (N, C, L) are read over images of height one (N, C, 1, L), between two reshapes, which
move nothing; passes remove them between successive 1-D layers.

The images of a 3-D tensor (N, C, D, H, W) follow each other along the batch axis, so that with
channels last no data move. For a convolution, the images that a window covers along the depth are
concatenated in the channels for each output image; one 2-D convolution then sums all of them, in
one integer accumulator. A transposed convolution does the same with a reversed kernel, and with
images of zeros between the input images. A batch of one is processed as images, whose first axis is
the depth; for larger batches the depth is the second of five axes.

A pooling first pools the images, then the depth: over (N, D, H * W, C), in windows of width one. So
an average is rounded twice, except over the whole tensor, which is an image of (D * H, W).
"""

from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any

import numpy as np
import onnx

from hexsim.errors import InvalidDataError
from hexsim.graph.ir import Layer, Shape
from hexsim.layers import AxisSlice, ChannelShuffle, Concat, Pad, Reshape, StridedSlice, Window
from hexsim.onnx_io.file.axis_order import channels_last
from hexsim.onnx_io.file.known import Array, Known
from hexsim.onnx_io.file.node import NotALayerError, OnnxNode
from hexsim.onnx_io.read.importer import Importer

Translate = Callable[[OnnxNode, Importer], None]
OfOthers = Callable[[Translate, OnnxNode, Importer], None]
_LINE_AXES, _AXES = 3, 5
_LINE, _DEPTH, _IMAGE = (None, 0), (0, None), (1, 2)
"""Positions among the numbers of a window attribute, None for an axis of size one."""
_NEUTRAL = {"kernel_shape": 1, "strides": 1, "dilations": 1, "output_padding": 0, "output_shape": 1}
"""Values for such an axis, for each attribute with a number per axis."""


def read_window(node: OnnxNode, kernel: tuple[int, int], size: tuple[int, int]) -> Window:
    """Return the window of `node` over an input of `size` (height, width), auto_pad resolved."""
    strides = pair(node, "strides", 1)
    dilations = pair(node, "dilations", 1)
    mode = node.text("auto_pad", "NOTSET")
    require_positive(kernel, strides, dilations)
    if mode in ("SAME_UPPER", "SAME_LOWER"):
        pads = _same_pads(mode, size, Window(kernel, strides, dilations=dilations))
    else:
        pads = read_pads(node)
    return Window(kernel, strides, pads, dilations, bool(node.integer("ceil_mode", 0)))


def require_positive(*pairs: tuple[int, int]) -> None:
    """Raise InvalidDataError unless kernel, strides and dilations, in any order, are at least 1."""
    if any(min(pair) < 1 for pair in pairs):
        raise InvalidDataError("kernel, strides and dilations must be at least 1")


def read_pads(node: OnnxNode) -> tuple[int, int, int, int]:
    """Return (top, left, bottom, right) of a node whose pads do not depend on its input."""
    pads = node.integers("pads") or (0, 0, 0, 0)
    if len(pads) != 4:
        raise NotALayerError("not 2-D")
    mode = node.text("auto_pad", "NOTSET")
    if mode == "VALID":
        return 0, 0, 0, 0
    if mode != "NOTSET":
        raise InvalidDataError(f"attribute auto_pad has the unknown value '{mode}'")
    if min(pads) < 0:
        raise NotALayerError("negative pads")
    top, left, bottom, right = pads
    return top, left, bottom, right


def pair(node: OnnxNode, attribute: str, default: int) -> tuple[int, int]:
    """Return an attribute that is (height, width); both are `default` if it is absent."""
    values = node.integers(attribute) or (default, default)
    if len(values) != 2:
        raise NotALayerError("not 2-D")
    return values[0], values[1]


def _same_pads(mode: str, size: tuple[int, int], window: Window) -> tuple[int, int, int, int]:
    """Return pads for ceil(size / stride) outputs; an odd pad is larger at one end."""
    begins, ends = [], []
    for length, stride, reach in zip(size, window.strides, window.reach, strict=True):
        total = max((-(-length // stride) - 1) * stride + reach - length, 0)
        small, large = total // 2, total - total // 2
        begins.append(small if mode == "SAME_UPPER" else large)
        ends.append(large if mode == "SAME_UPPER" else small)
    return begins[0], begins[1], ends[0], ends[1]


def _also(axes: int, of_others: OfOthers, translate: Translate) -> Translate:
    """Extend a translator of images to tensors of `axes` axes, which `of_others` translates."""

    @wraps(translate)
    def wrapped(node: OnnxNode, net: Importer) -> None:
        name = node.input(0)
        if name not in net.tensors or len(net.source_shape(name)) != axes:
            translate(node, net)
            return
        with net.attempt():
            of_others(translate, node, net)

    return wrapped


def also_1d(translate: Translate) -> Translate:
    """Extend a translator of images to 1-D operators."""
    return _also(_LINE_AXES, _on_line, translate)


def _on_line(translate: Translate, node: OnnxNode, net: Importer) -> None:
    name = node.input(0)
    image = net.shaped(name, f"{node.name}.image", with_height(net.source_shape(name)))
    result = net.unique(f"{node.name}.result")
    translate(_reading(_part(node, _LINE, axes=1), node.name, image, result), net)
    batch, _, length, channels = net.tensor(result).shape
    shape, order = (batch, length, channels), channels_last(_LINE_AXES)
    net.put(Reshape, f"{node.name}.line", [result], order, node.output, shape=shape)


def with_height(shape: Shape) -> Shape:
    """Return a shape of three axes with a height of one added, any other unchanged."""
    return (*shape[:2], 1, shape[2]) if len(shape) == _LINE_AXES else shape


class JoinedImages:
    """The first input of `node` while it is transformed; `name` is the current tensor."""

    def __init__(self, node: OnnxNode, net: Importer) -> None:
        self._node, self._net = node, net
        self.batch, self._channels, self.depth, *self._size = net.source_shape(node.input(0))
        self.name = net.channels_last(node.input(0))
        self._axis = 0 if self.batch == 1 else 1
        self._taps = 1
        self._inner: tuple[AxisSlice, str] | None = None
        if self.batch == 1:
            self._as_images()

    def pad(self, begin: int, end: int) -> None:
        """Add images of zeros at both ends; negative numbers remove images."""
        kept_range = AxisSlice(self._axis, max(-begin, 0), self.depth - max(-end, 0))
        if kept_range.size < self.depth:
            self.name = self._slice(self.name, kept_range)
        if max(begin, end) > 0:
            inside = AxisSlice(self._axis, max(begin, 0), max(begin, 0) + kept_range.size)
            self._inner = (inside, self.name)
            self._pad(self._axis, max(begin, 0), max(end, 0))
        self.depth += begin + end

    def spread(self, stride: int) -> None:
        """Insert images of zeros, so that the distance between images is `stride`."""
        if stride == 1:
            return
        self._reshape((self.batch * self.depth, 1, *self._size, self._channels), "apart")
        self._pad(1, 0, stride - 1)
        self.depth *= stride
        if self.batch == 1:
            self._as_images()
        else:
            self._reshape((self.batch, self.depth, *self._size, self._channels), "spread")

    def take(self, window: Window) -> None:
        """Concatenate the images of each window along the depth; pads must be added before."""
        taps, step, dilation = window.kernel[0], window.strides[0], window.dilations[0]
        count = (self.depth - window.reach[0]) // step + 1
        if count < 1:
            raise InvalidDataError(f"a depth of {self.depth} is less than the window")
        parts = [
            AxisSlice(self._axis, tap * dilation, tap * dilation + (count - 1) * step + 1, step)
            for tap in range(taps)
        ]
        source = self.name
        names = [self._part(source, part) for part in parts]
        self.name = names[0]
        if taps > 1:
            rank = 4 + self._axis
            self._add(Concat, "joined", tuple(names), rank, axis=rank - 1)
        self._taps, self.depth = taps, count
        self._channels *= taps
        if self.batch > 1:
            self._as_images()

    def group(self, groups: int) -> None:
        """Reorder the channels so that those of each group are contiguous."""
        if groups > 1 and self._taps > 1:
            self._add(ChannelShuffle, "grouped", (self.name,), 4, groups=self._taps)

    def _as_images(self) -> None:
        self._reshape((self.batch * self.depth, *self._size, self._channels), "images")

    def _reshape(self, shape: Shape, role: str) -> None:
        self._add(Reshape, role, (self.name,), len(shape), shape=shape)

    def _pad(self, axis: int, begin: int, end: int) -> None:
        rank = len(self._net.tensor(self.name).shape)
        begins, ends = ([0] * rank for _ in range(2))
        begins[axis], ends[axis] = begin, end
        self._add(Pad, "padded", (self.name,), rank, begins=tuple(begins), ends=tuple(ends))

    def _part(self, source: str, part: AxisSlice) -> str:
        """Return the images of a part, which may be all images, or those before padding."""
        if part.size == self.depth:
            return source
        if self._inner is not None and self._inner[0] == part:
            return self._inner[1]
        return self._slice(source, part)

    def _slice(self, name: str, part: AxisSlice) -> str:
        previous = self.name
        self._add(StridedSlice, "part", (name,), 4 + self._axis, parts=(part,))
        self.name, sliced = previous, self.name
        return sliced

    def _add(
        self, kind: type[Layer], role: str, inputs: tuple[str, ...], rank: int, **attributes: Any
    ) -> None:
        label = f"{self._node.name}.{role}"
        self.name = self._net.put(kind, label, inputs, channels_last(rank), **attributes)


def also_3d(of_volumes: OfOthers, translate: Translate) -> Translate:
    """Extend a translator of images to 3-D tensors, which `of_volumes` translates."""
    return _also(_AXES, of_volumes, translate)


def convolution(translate: Translate, node: OnnxNode, net: Importer) -> None:
    """Translate Conv: concatenate the images of each window along the depth, then convolve."""
    weight = _weight(node, net)
    outputs, inputs, taps, *kernel = weight.shape
    window = _along_depth(node, taps, net)
    images = JoinedImages(node, net)
    images.pad(window.pads[0], window.pads[2])
    images.take(window)
    groups = node.integer("group", 1)
    images.group(groups)
    order = (0, 2, 1, 3, 4) if groups == 1 else (0, 1, 2, 3, 4)
    flat = _flat(weight, "joined", order, (outputs, inputs * taps, *kernel), net)
    _on_images(translate, node, net, images, flat)


def deconvolution(translate: Translate, node: OnnxNode, net: Importer) -> None:
    """Translate ConvTranspose: as Conv, with a reversed kernel and zeros between the images."""
    if node.text("auto_pad", "NOTSET") not in ("NOTSET", "VALID") or node.has("output_shape"):
        raise NotALayerError("a 3-D output with a stated size")
    weight = _weight(node, net)
    inputs, outputs, taps, *kernel = weight.shape
    window = _along_depth(node, taps, net)
    images = JoinedImages(node, net)
    stride, reach = window.strides[0], window.reach[0] - 1
    extra = (node.integers("output_padding") or (0,))[0]
    size = (images.depth - 1) * stride + reach + 1 - window.pads[0] - window.pads[2] + extra
    images.spread(stride)
    begin = reach - window.pads[0]
    images.pad(begin, size + reach - begin - images.depth)
    images.take(Window((taps, 1), dilations=window.dilations))
    groups = node.integer("group", 1)
    images.group(groups)
    order = (2, 0, 1, 3, 4) if groups == 1 else (0, 2, 1, 3, 4)
    shape = (inputs * taps, outputs, *kernel)
    flat = _flat(weight, "backwards", order, shape, net, backwards=True)
    _on_images(translate, node, net, images, flat)


def pooling(translate: Translate, node: OnnxNode, net: Importer) -> None:
    """Translate MaxPool and AveragePool: pool the images, then the depth."""
    batch, _, depth, height, width = net.source_shape(node.input(0))
    kernel = node.integers("kernel_shape") or ()
    if len(kernel) != _AXES - 2:
        raise InvalidDataError(f"kernel_shape {list(kernel)} does not fit a volume")
    image_node, depth_node = _part(node, _IMAGE), _part(node, _DEPTH)
    if kernel == (depth, height, width) and _is_alone(node):
        pooling_all(translate, _part(node, (None, None), (depth * height, width)), net)
        return
    data = net.channels_last(node.input(0))
    if not _keeps(read_window(image_node, (kernel[1], kernel[2]), (height, width))):
        images = _reshaped(node, net, data, (batch * depth, height, width), "images")
        data = net.unique(f"{node.name}.pooled")
        translate(_reading(image_node, node.name, images, data), net)
        _, height, width, _ = net.tensor(data).shape
    if not _keeps(read_window(depth_node, (kernel[0], 1), (depth, 1))):
        columns = _reshaped(node, net, data, (batch, depth, height * width), "columns")
        data = net.unique(f"{node.name}.along_depth")
        translate(_reading(depth_node, data, columns, data), net)
        depth = net.tensor(data).shape[1]
    _as_volume(node, net, data, (batch, depth, height, width))


def pooling_all(translate: Translate, node: OnnxNode, net: Importer) -> None:
    """Translate a global pooling as one over an image of depth times height."""
    batch, _, depth, height, width = net.source_shape(node.input(0))
    data = net.channels_last(node.input(0))
    image = _reshaped(node, net, data, (batch, depth * height, width), "image")
    result = net.unique(f"{node.name}.pooled")
    translate(_reading(node, node.name, image, result), net)
    _as_volume(node, net, result, (batch, 1, 1, 1))


def _weight(node: OnnxNode, net: Importer) -> Known:
    weight = net.array(node.input(1))
    if len(weight.shape) != _AXES:
        raise InvalidDataError(f"the weight has shape {list(weight.shape)}, expected five axes")
    kernel = node.integers("kernel_shape") or weight.shape[2:]
    if kernel != weight.shape[2:]:
        raise InvalidDataError(
            f"kernel_shape {list(kernel)} does not fit weight {list(weight.shape)}"
        )
    return weight


def _along_depth(node: OnnxNode, taps: int, net: Importer) -> Window:
    """Return the window of a convolution along the depth, with a width of one."""
    _, _, depth, *_ = net.source_shape(node.input(0))
    return read_window(_part(node, _DEPTH), (taps, 1), (depth, 1))


def _flat(
    weight: Known,
    form: str,
    order: Sequence[int],
    shape: Shape,
    net: Importer,
    *,
    backwards: bool = False,
) -> str:
    """Name the weight with its taps along the depth moved to its input channels."""

    def flat(array: Array) -> Array:
        taps = array[:, :, ::-1] if backwards else array
        return np.ascontiguousarray(taps.transpose(order)).reshape(shape)

    return net.rearranged(weight.name, f"{weight.name}.{form}", shape, flat)


def _on_images(
    translate: Translate, node: OnnxNode, net: Importer, images: JoinedImages, weight: str
) -> None:
    """Translate the 2-D convolution, and reshape its images to a 3-D tensor."""
    result = net.unique(f"{node.name}.result")
    translate(_reading(_part(node, _IMAGE), node.name, images.name, result, weight), net)
    _, height, width, _ = net.tensor(result).shape
    _as_volume(node, net, result, (images.batch, images.depth, height, width))


def _reshaped(node: OnnxNode, net: Importer, data: str, shape: Shape, role: str) -> str:
    """Name `data`, which is channels last, reshaped to `shape` and channels."""
    shape = (*shape, net.tensor(data).shape[-1])
    return net.put(Reshape, f"{node.name}.{role}", [data], channels_last(len(shape)), shape=shape)


def _as_volume(node: OnnxNode, net: Importer, data: str, shape: Shape) -> None:
    shape, order = (*shape, net.tensor(data).shape[-1]), channels_last(_AXES)
    net.put(Reshape, f"{node.name}.volume", [data], order, node.output, shape=shape)


def _part(
    node: OnnxNode, places: Sequence[int | None], kernel: Sequence[int] = (), axes: int = 3
) -> OnnxNode:
    """Return a node of `axes` axes for two: those at `places`, where None is one of size one.

    A `kernel` replaces that of the node, whose other attributes must be defaults.
    """
    proto = onnx.NodeProto()
    proto.CopyFrom(node.proto)
    for attribute in proto.attribute:
        ints, neutral = tuple(attribute.ints), _NEUTRAL.get(attribute.name, 0)
        if attribute.name == "kernel_shape" and kernel:
            attribute.ints[:] = kernel
        elif attribute.name == "pads" and len(ints) == 2 * axes:
            ends = (
                half[place] if place is not None else 0
                for half in (ints[:axes], ints[axes:])
                for place in places
            )
            attribute.ints[:] = ends
        elif attribute.name in _NEUTRAL and len(ints) == axes:
            attribute.ints[:] = [neutral if place is None else ints[place] for place in places]
    return OnnxNode(proto, node.name, node.opset)


def _reading(node: OnnxNode, name: str, data: str, result: str, weight: str = "") -> OnnxNode:
    proto = onnx.NodeProto()
    proto.CopyFrom(node.proto)
    proto.input[0], proto.output[0] = data, result
    if weight:
        proto.input[1] = weight
    return OnnxNode(proto, name, node.opset)


def _is_alone(node: OnnxNode) -> bool:
    """True if there are no pads and dilations, so that one window can cover the whole input."""
    pads_to_size = node.text("auto_pad", "NOTSET") not in ("NOTSET", "VALID")
    dilations = set(node.integers("dilations") or ()) - {1}
    return not pads_to_size and not dilations and not any(node.integers("pads") or ())


def _keeps(window: Window) -> bool:
    """True if a pooling with this window returns its input."""
    return window.taps == 1 and window.strides == (1, 1) and not any(window.pads)
