"""Whether an opaque layer that was read from a file is the node that it holds.

Not judged is whether the operator takes such attributes and inputs, which onnxruntime does.
"""

from __future__ import annotations

import onnx

from hexsim.layers import Opaque
from hexsim.onnx_io.node import outer_names


def require_node(layer: Opaque) -> None:
    """Raise ValueError unless the layer's node can be read and names what the layer names."""
    try:
        node = onnx.NodeProto.FromString(layer.node)
    except Exception:  # of protobuf, whose errors onnx does not hand on
        raise ValueError("field 'node' holds no ONNX node") from None
    if node.op_type not in (layer.op_type, layer.op_type.rpartition(".")[2]):
        raise ValueError(f"field 'op_type' is '{layer.op_type}', and its node a '{node.op_type}'")
    inputs = len(list(filter(None, node.input))) + len(outer_names(node))
    if inputs != len(layer.inputs):
        raise ValueError(f"it has {len(layer.inputs)} inputs, and its node reads {inputs}")
    outputs = len(list(filter(None, node.output)))
    if outputs != len(layer.outputs):
        raise ValueError(f"it has {len(layer.outputs)} outputs, and its node writes {outputs}")
