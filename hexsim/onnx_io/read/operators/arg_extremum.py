"""ArgMax and ArgMin: a layer that returns positions as floats, then a Cast on the CPU."""

import math
from collections.abc import Callable
from typing import Literal

import onnx

from hexsim.graph.ir import Tensor
from hexsim.layers import ArgExtremum, Opaque
from hexsim.onnx_io.file.axis_order import without
from hexsim.onnx_io.file.node import NotALayerError, OnnxNode, positive_axis
from hexsim.onnx_io.read.importer import Importer


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


TRANSLATORS = {"ArgMax": arg_extremum("max"), "ArgMin": arg_extremum("min")}
