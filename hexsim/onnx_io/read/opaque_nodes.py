"""Adds nodes for which hexsim has no layer to the network as opaque layers."""

import math
from collections.abc import Mapping, Sequence

from hexsim.graph.ir import Shape, Tensor
from hexsim.layers import Opaque
from hexsim.onnx_io.file.axis_order import Order, identity, stored_shape
from hexsim.onnx_io.file.node import OnnxNode, outer_names
from hexsim.onnx_io.read.importer import Importer
from hexsim.onnx_io.read.operator_work import ignores_layout, operator_work
from hexsim.onnx_io.read.operators.elementwise import common_order


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
    outputs = []
    for name, (shape, dtype) in types.items():
        stored_order = order or identity(len(shape))
        outputs.append(Tensor(name, stored_shape(shape, stored_order), stored_order, dtype))
    layer = Opaque(
        name=node.name,
        inputs=tuple(
            _operand(name, order, net) for name in (*node.inputs, *outer_names(node.proto)) if name
        ),
        outputs=tuple(types),
        op_type=node.op_type,
        node=node.proto.SerializeToString(deterministic=True),
        opset=node.opset,
        shapes=tuple(tensor.shape for tensor in outputs),
        products=work.macs,
        operations=work.operations,
        picks=work.picks,
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
