"""Adds nodes of user-defined operators to the network."""

import onnx

from hexsim.graph.ir import Tensor
from hexsim.layers import UserDefined
from hexsim.layers._attribute import Attribute
from hexsim.layers.user_defined import MOST_INPUTS
from hexsim.onnx_io.file.axis_order import identity, stored_shape
from hexsim.onnx_io.file.node import OnnxNode
from hexsim.onnx_io.file.stored_tensors import array_of
from hexsim.onnx_io.read.importer import Importer
from hexsim.onnx_io.read.operators.elementwise import common_order
from hexsim.texts.names import visible
from hexsim.udl import UserLayer

_Kinds = onnx.AttributeProto


def add_user_defined(node: OnnxNode, net: Importer, operator: UserLayer) -> None:
    """Add `node` as a layer of the user-defined `operator`.

    Raises HexsimError for a node without inputs that vary, one that leaves out an output, and for
    attributes of unsupported types.
    """
    input_names = [name for name in node.inputs if name]
    if not any(name in net.tensors for name in input_names):
        reason = "a user-defined layer needs an input that varies"
        raise node.error(reason, "compute its result before you export the model")
    if not all(node.outputs):
        raise node.error("leaves out an output, which no user-defined layer can", "name it")
    order = common_order(tuple(input_names), net) if operator.any_order else None
    if len(node.inputs) > MOST_INPUTS:
        raise node.error(f"has {len(node.inputs)} inputs, more than {MOST_INPUTS}")
    layer = UserDefined(
        name=node.name,
        inputs=tuple(_operand(name, order, net) for name in input_names),
        outputs=node.outputs,
        op_type=node.op_type,
        places=tuple(place for place, name in enumerate(node.inputs) if name),
        attributes=tuple(_attribute(attribute, node) for attribute in node.proto.attribute),
        source=visible(operator.source),
        definition=operator,
    )
    shapes = layer.output_shapes([net.source_shape(name) for name in input_names])
    outputs = []
    for index, (name, shape) in enumerate(zip(node.outputs, shapes, strict=True)):
        stored = order or identity(len(shape))
        if len(stored) != len(shape):
            reason = f"has an output of {len(shape)} axes, and inputs of {len(stored)}"
            raise node.error(reason, "an operator of any_order keeps the axes")
        outputs.append(Tensor(name, stored_shape(shape, stored), stored, operator.dtype(index)))
    net.add_with(layer, outputs)


def _operand(name: str, order: tuple[int, ...] | None, net: Importer) -> str:
    """Return an input in source order or, for an elementwise operator, in `order`."""
    return net.in_source_order(name) if order is None else net.operand(name, order)


def _attribute(proto: onnx.AttributeProto, node: OnnxNode) -> Attribute:
    kind, name = proto.type, visible(proto.name)
    if kind == _Kinds.INT:
        return Attribute(name, "int", ints=(proto.i,))
    if kind == _Kinds.FLOAT:
        return Attribute(name, "float", floats=(proto.f,))
    if kind == _Kinds.STRING:
        return Attribute(name, "text", texts=(_text(proto.s),))
    if kind == _Kinds.INTS:
        return Attribute(name, "ints", ints=tuple(proto.ints))
    if kind == _Kinds.FLOATS:
        return Attribute(name, "floats", floats=tuple(proto.floats))
    if kind == _Kinds.STRINGS:
        return Attribute(name, "texts", texts=tuple(map(_text, proto.strings)))
    if kind == _Kinds.TENSOR:
        array = array_of(proto.t, name)
        data = array.astype(array.dtype.newbyteorder("<")).tobytes()
        attribute = Attribute(name, "array", dtype=array.dtype.name, shape=array.shape, data=data)
        if attribute.fault() is None:
            return attribute
    raise node.error(f"attribute {name} is no number, text or array, nor a list of them")


def _text(data: bytes) -> str:
    return data.decode("utf-8", "replace")
