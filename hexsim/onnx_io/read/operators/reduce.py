"""Reductions: mean, sum, maximum and minimum along any axes, and the sum of squares.

Norms and logarithms of sums are expanded (hexsim.onnx_io.read.expansions.norms). ReduceProd is
not supported, since no integer kernel is known.

ArgMax and ArgMin: a layer that returns positions as floats, then a Cast on the CPU.
"""

import math
from collections.abc import Callable
from typing import Literal

import onnx

from hexsim.graph.ir import Tensor
from hexsim.layers import ArgExtremum, Elementwise, Opaque, Pooling, Reduce, Window
from hexsim.layers.reduce import ReduceKind
from hexsim.onnx_io.file.axis_order import channels_last, without
from hexsim.onnx_io.file.node import NotALayerError, OnnxNode, positive_axis
from hexsim.onnx_io.read.importer import Importer


def reduction(kind: ReduceKind) -> Callable[[OnnxNode, Importer], None]:
    """Return the translator to Reduce and, without keepdims, a Reshape.

    The mean of an image becomes a pooling.
    """

    def translate(node: OnnxNode, net: Importer) -> None:
        _add(node, net, kind, node.input(0))

    return translate


def sum_of_squares(node: OnnxNode, net: Importer) -> None:
    """Translate to the product of the tensor with itself, and its sum."""
    data = net.tensor(node.input(0))
    _axes(node, net)
    square = net.unique(f"{node.output}.square")
    layer = Elementwise(
        name=net.unique(f"{node.name}.square"),
        inputs=(data.name, data.name),
        outputs=(square,),
        kind="product",
    )
    net.add(layer, data.order)
    _add(node, net, "sum", square)


def _add(node: OnnxNode, net: Importer, kind: ReduceKind, name: str) -> None:
    """Add the reduction of tensor `name` along the axes of the node, and its Reshape."""
    data, axes = net.tensor(name), _axes(node, net)
    if not axes:
        net.reshape(node.name, name, data.source_shape, node.output)
        return
    keeps_axes = bool(node.integer("keepdims", 1))
    result = node.output if keeps_axes else net.unique(f"{node.output}.reduced")
    if kind == "mean" and len(data.shape) == 4 and axes == (2, 3):
        _, _, height, width = data.source_shape
        pooling = Pooling(
            name=node.name,
            inputs=(net.channels_last(name),),
            outputs=(result,),
            kind="average",
            window=Window((height, width)),
        )
        net.add(pooling, channels_last(4))
    else:
        stored = tuple(sorted(data.order.index(axis) for axis in axes))
        layer = Reduce(name=node.name, inputs=(name,), outputs=(result,), kind=kind, axes=stored)
        net.add(layer, data.order)
    if not keeps_axes:
        target = (size for axis, size in enumerate(data.source_shape) if axis not in axes)
        net.reshape(net.unique(f"{node.name}.squeeze"), result, tuple(target), node.output)


def _axes(node: OnnxNode, net: Importer) -> tuple[int, ...]:
    """Return the sorted source axes; without any all of them, or none by noop_with_empty_axes."""
    data = net.tensor(node.input(0))
    if data.dtype != "float32":
        raise NotALayerError("does not reduce float32")
    rank = len(data.shape)
    given_axes = net.integers(node, "axes", 1) or ()
    if not given_axes:
        return () if node.integer("noop_with_empty_axes", 0) else tuple(range(rank))
    return tuple(sorted({positive_axis(axis, rank) for axis in given_axes}))


def arg_extremum(kind: Literal["max", "min"]) -> Callable[[OnnxNode, Importer], None]:
    """Return the translator to the first position along an axis; the last is not supported."""

    def translate(node: OnnxNode, net: Importer) -> None:
        data = net.tensor(node.input(0))
        if data.dtype != "float32" or not data.shape:
            raise NotALayerError("does not search an axis of float32")
        if node.integer("select_last_index", 0):
            raise NotALayerError("takes the last of equal numbers")
        axis = positive_axis(node.integer("axis", 0), len(data.shape))
        keeps_axis = bool(node.integer("keepdims", 1))
        place = net.unique(f"{node.output}.place")
        layer = ArgExtremum(
            name=node.name,
            inputs=(data.name,),
            outputs=(place,),
            kind=kind,
            axis=data.order.index(axis),
            keeps_axis=keeps_axis,
        )
        net.add(layer, data.order if keeps_axis else without(axis, data.order))
        _cast(node, net, place)

    return translate


def _cast(node: OnnxNode, net: Importer, place: str) -> None:
    """Cast the positions to integers, in the same order."""
    places = net.tensors[place]
    proto = onnx.helper.make_node("Cast", [place], [node.output], to=onnx.TensorProto.INT64)
    layer = Opaque(
        name=net.unique(f"{node.name}.cast"),
        inputs=(place,),
        outputs=(node.output,),
        op_type="Cast",
        node=proto.SerializeToString(deterministic=True),
        opset=node.opset,
        shapes=(places.shape,),
        operations=math.prod(places.shape),
    )
    net.add_with(layer, [Tensor(node.output, places.shape, places.order, "int64")])


TRANSLATORS = {
    "ReduceMax": reduction("max"),
    "ReduceMean": reduction("mean"),
    "ReduceMin": reduction("min"),
    "ReduceSum": reduction("sum"),
    "ReduceSumSquare": sum_of_squares,
    "ArgMax": arg_extremum("max"),
    "ArgMin": arg_extremum("min"),
}
