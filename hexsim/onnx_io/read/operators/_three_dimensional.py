"""3-D operators (N, C, D, H, W), read as operators over images (N * D, C, H, W).

The images of a 3-D tensor follow each other along the batch axis, so that with channels last no
data move. For a convolution, the images that a window covers along the depth are concatenated in
the channels for each output image; one 2-D convolution then sums all of them, in one integer
accumulator. A transposed convolution does the same with a reversed kernel, and with images of zeros
between the input images.

A pooling first pools the images, then the depth: over (N, D, H * W, C), in windows of width one. So
an average is rounded twice, except over the whole tensor, which is an image of (D * H, W).
"""

from collections.abc import Callable, Sequence
from functools import wraps

import numpy as np
import onnx

from hexsim.errors import InvalidDataError
from hexsim.graph.ir import Shape
from hexsim.layers import Reshape, Window
from hexsim.onnx_io.file.axis_order import channels_last
from hexsim.onnx_io.file.known import Array, Known
from hexsim.onnx_io.file.node import NotALayerError, OnnxNode
from hexsim.onnx_io.read.importer import Importer
from hexsim.onnx_io.read.operators._joined_images import JoinedImages
from hexsim.onnx_io.read.operators._windows import read_window

Translate = Callable[[OnnxNode, Importer], None]
OfVolumes = Callable[[Translate, OnnxNode, Importer], None]

_AXES = 5
_DEPTH, _IMAGE = (0,), (1, 2)
"""Positions among the three numbers of a window attribute."""
_NEUTRAL = {"kernel_shape": 1, "strides": 1, "dilations": 1, "output_padding": 0}
"""Values for a width of one, for each attribute with a number per axis."""


def also_3d(of_volumes: OfVolumes, translate: Translate) -> Translate:
    """Extend a translator of images to 3-D tensors, which `of_volumes` translates."""

    @wraps(translate)
    def wrapped(node: OnnxNode, net: Importer) -> None:
        name = node.input(0)
        if name not in net.tensors or len(net.source_shape(name)) != _AXES:
            translate(node, net)
            return
        with net.attempt():
            of_volumes(translate, node, net)

    return wrapped


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
        pooling_all(translate, _part(node, (), kernel=(depth * height, width)), net)
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
    channels = net.tensor(data).shape[-1]
    label = net.unique(f"{node.name}.{role}")
    layer = Reshape(name=label, inputs=(data,), outputs=(label,), shape=(*shape, channels))
    net.add(layer, channels_last(len(layer.shape)))
    return label


def _as_volume(node: OnnxNode, net: Importer, data: str, shape: Shape) -> None:
    """Write `data`, reshaped to `shape` and channels, as the output of the node."""
    layer = Reshape(
        name=net.unique(f"{node.name}.volume"),
        inputs=(data,),
        outputs=(node.output,),
        shape=(*shape, net.tensor(data).shape[-1]),
    )
    net.add(layer, channels_last(_AXES))


def _part(node: OnnxNode, places: Sequence[int], kernel: Sequence[int] = ()) -> OnnxNode:
    """Return the node for two axes: those at `places`, or one of them and one of size one.

    A `kernel` replaces that of the node, whose other attributes must be defaults.
    """
    proto = onnx.NodeProto()
    proto.CopyFrom(node.proto)
    for attribute in proto.attribute:
        ints = tuple(attribute.ints)
        if attribute.name == "pads" and len(ints) == 6:
            begins, ends = ([half[place] for place in places] for half in (ints[:3], ints[3:]))
            padding = [0] * (2 - len(places))
            attribute.ints[:] = [*begins, *padding, *ends, *padding]
        elif attribute.name in _NEUTRAL and len(ints) == 3:
            padding = [_NEUTRAL[attribute.name]] * (2 - len(places))
            attribute.ints[:] = [*(ints[place] for place in places), *padding]
            if attribute.name == "kernel_shape" and kernel:
                attribute.ints[:] = kernel
    return OnnxNode(proto, node.name, node.opset)


def _reading(node: OnnxNode, name: str, data: str, result: str, weight: str = "") -> OnnxNode:
    """Return the node with another name, input, output and, if given, weight."""
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
