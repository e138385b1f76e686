"""Checks that an opaque layer that was read from a file agrees with the node in it.

Whether the operator accepts the attributes and inputs is not checked here, but by onnxruntime.
"""

import onnx

from hexsim.errors import InvalidDataError
from hexsim.layers import Opaque
from hexsim.layers.opaque import operator_of
from hexsim.onnx_io.file.node import outer_names
from hexsim.onnx_io.write.emitters.opaque import nodes_of


def require_node(layer: Opaque) -> None:
    """Raise InvalidDataError unless the layer's node can be read and names what the layer names."""
    try:
        node = onnx.NodeProto.FromString(layer.node)
        nodes = nodes_of(layer)
    except Exception as error:  # of protobuf, whose errors onnx does not export
        raise InvalidDataError("field 'node' holds no ONNX node") from error
    operator = operator_of([node.op_type for node in nodes])
    if operator not in (layer.op_type, layer.op_type.rpartition(".")[2]):
        raise InvalidDataError(f"field 'op_type' is '{layer.op_type}', and its node a '{operator}'")
    inputs = len(list(filter(None, node.input))) + len(outer_names(node))
    if inputs != len(layer.inputs):
        raise InvalidDataError(f"it has {len(layer.inputs)} inputs, and its node reads {inputs}")
    outputs = len(list(filter(None, node.output)))
    if outputs != len(layer.outputs):
        raise InvalidDataError(
            f"it has {len(layer.outputs)} outputs, and its node writes {outputs}"
        )
