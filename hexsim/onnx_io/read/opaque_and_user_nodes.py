"""Adds nodes for which hexsim has no layer to the network as opaque layers.

Adds nodes of user-defined operators to the network.
"""

import math
from collections.abc import Mapping, Sequence

import onnx

from hexsim.graph.ir import Shape, Tensor
from hexsim.layers import Opaque, UserDefined
from hexsim.layers._attribute import Attribute
from hexsim.layers.onnx_nodes import MOST_INPUTS
from hexsim.onnx_io.file.axis_order import Order, identity, stored_shape
from hexsim.onnx_io.file.node import OnnxNode, outer_names
from hexsim.onnx_io.file.stored_tensors import array_of
from hexsim.onnx_io.read.importer import Importer
from hexsim.onnx_io.read.operator_work import ignores_layout, operator_work
from hexsim.onnx_io.read.operators.elementwise import common_order
from hexsim.onnx_io.read.operators.resize import form_of
from hexsim.texts.text import visible
from hexsim.udl import UserLayer


def add_opaque(node: OnnxNode, net: Importer, types: Mapping[str, tuple[Shape, str]]) -> None:
    """Add `node`, whose outputs have the source shapes and dtypes `types`.

    Tensors that its subgraphs read from the graph around it follow its own inputs.

    Its tensors are in source order or, if it computes every element alike, in the order of its
    operands.
    """
    if unknown := [name for name in node.outputs if name and name not in types]:
        raise node.misfit(f"its operator has no output '{unknown[0]}' at this place")
    shapes = [net.source_shape(name) if name else None for name in node.inputs]
    work = operator_work(node, shapes, [shape for shape, _ in types.values()])
    order = _free_order(node, shapes, net)
    if order is not None and any(len(shape) != len(order) for shape, _ in types.values()):
        order = None  # a scalar with more axes than the result
    shapes_after = [shape for shape, _ in types.values()]
    outputs = []
    for name, (shape, dtype) in types.items():
        stored_order = order or identity(len(shape))
        outputs.append(Tensor(name, stored_shape(shape, stored_order), stored_order, dtype))
    layer = Opaque(
        node.name,
        tuple(
            _operand(name, order, net) for name in (*node.inputs, *outer_names(node.proto)) if name
        ),
        tuple(types),
        op_type=node.op_type,
        node=node.proto.SerializeToString(deterministic=True),
        opset=node.opset,
        shapes=tuple(tensor.shape for tensor in outputs),
        products=work.macs,
        operations=work.operations,
        picks=work.picks,
        form=form_of(node, net, shapes_after[0]) if node.op_type == "Resize" else "",
    )
    net.add_with(layer, outputs)


def _free_order(node: OnnxNode, shapes: Sequence[Shape | None], net: Importer) -> Order | None:
    """Return the stored order of a node that ignores axes, None if that is source order."""
    if not ignores_layout(node, shapes):
        return None
    order = common_order(tuple(filter(None, node.inputs)), net)
    return None if order == identity(len(order)) else order


def _operand(name: str, order: Order | None, net: Importer) -> str:
    """Return an operand in `order`; scalars and operands without an order are in source order."""
    if order is None or math.prod(net.source_shape(name)) == 1:
        return net.in_source_order(name)
    return net.operand(name, order)


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
        node.name,
        tuple(
            net.in_source_order(name) if order is None else net.operand(name, order)
            for name in input_names
        ),
        node.outputs,
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
