"""1-D operators (N, C, L), read as operators over images of height one (N, C, 1, L).

The window attributes of the node get a height, and its data an axis. Two reshapes, which move
nothing, surround the layer; passes remove them between successive 1-D layers.
"""

from collections.abc import Callable
from functools import wraps

import onnx

from hexsim.graph.ir import Shape
from hexsim.layers import Reshape
from hexsim.onnx_io.file.axis_order import channels_last
from hexsim.onnx_io.file.node import OnnxNode
from hexsim.onnx_io.read.importer import Importer

Translate = Callable[[OnnxNode, Importer], None]

_AXES = 3
_OF_HEIGHT = {
    "kernel_shape": (1,),
    "strides": (1,),
    "dilations": (1,),
    "output_padding": (0,),
    "output_shape": (1,),
}
"""Values for a height of one, for each attribute with a number per axis."""


def also_1d(translate: Translate) -> Translate:
    """Extend a translator of images to 1-D operators."""

    @wraps(translate)
    def wrapped(node: OnnxNode, net: Importer) -> None:
        name = node.input(0)
        if name not in net.tensors or len(net.source_shape(name)) != _AXES:
            translate(node, net)
            return
        with net.attempt():
            image = net.unique(f"{node.name}.image")
            net.reshape(image, name, with_height(net.source_shape(name)), image)
            result = net.unique(f"{node.name}.result")
            translate(_of_image(node, image, result), net)
            batch, _, length, channels = net.tensor(result).shape
            line = Reshape(
                name=net.unique(f"{node.name}.line"),
                inputs=(result,),
                outputs=(node.output,),
                shape=(batch, length, channels),
            )
            net.add(line, channels_last(_AXES))

    return wrapped


def with_height(shape: Shape) -> Shape:
    """Return a shape of three axes with a height of one added, any other unchanged."""
    return (*shape[:2], 1, shape[2]) if len(shape) == _AXES else shape


def _of_image(node: OnnxNode, data: str, result: str) -> OnnxNode:
    """Return the node for images, which reads `data` and writes `result`."""
    proto = onnx.NodeProto()
    proto.CopyFrom(node.proto)
    proto.input[0], proto.output[0] = data, result
    for attribute in proto.attribute:
        numbers = tuple(attribute.ints)
        if attribute.name == "pads" and len(numbers) == 2:
            attribute.ints[:] = (0, numbers[0], 0, numbers[1])
        elif attribute.name in _OF_HEIGHT and len(numbers) == 1:
            attribute.ints[:] = (*_OF_HEIGHT[attribute.name], *numbers)
    return OnnxNode(proto, node.name, node.opset)
