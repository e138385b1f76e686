"""Expands DynamicQuantizeLSTM into an LSTM with dequantised and transposed weights."""

import onnx

from hexsim.onnx_io.file.node import OnnxNode
from hexsim.onnx_io.read.expansions._parts import ExpansionNodes
from hexsim.onnx_io.read.file_graph import FileGraph

_WEIGHTS = ((1, 8), (2, 10))
"""Positions of the codes and of their scale among the inputs; the zero point follows the scale."""


def dynamic_quantize_lstm(node: OnnxNode, graph: FileGraph, parts: ExpansionNodes) -> str | None:
    """LSTM in floats; codes are (directions, inputs, gates), with a scale of one or two axes."""
    inputs = list(node.inputs[:8])
    for position, scale in _WEIGHTS:
        if graph.rank(node.required(scale)) not in (1, 2):
            return None
        floats = parts.add("Cast", [node.required(position)], to=onnx.TensorProto.FLOAT)
        zero = parts.add("Cast", [node.required(scale + 1)], to=onnx.TensorProto.FLOAT)
        floats = parts.add("Sub", [floats, _spread(zero, parts)])
        floats = parts.add("Mul", [floats, _spread(node.required(scale), parts)])
        inputs[position] = parts.add("Transpose", [floats], perm=[0, 2, 1])
    while not inputs[-1]:
        inputs.pop()
    result = parts.copy("LSTM", inputs)
    parts.nodes[-1].output.extend(node.outputs[1:])
    return result


def _spread(name: str, parts: ExpansionNodes) -> str:
    """Add an axis of inputs to numbers per direction, or per direction and gate."""
    return parts.reshape(name, [0, 1, -1])


EXPANSIONS = {"com.microsoft.DynamicQuantizeLSTM": dynamic_quantize_lstm}
