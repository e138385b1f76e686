"""Expands QLinear operators to a float operator between DequantizeLinear and QuantizeLinear.

Not supported: images with channels last, and scales that vary.
"""

from collections.abc import Callable

from hexsim.onnx_io.file.node import OnnxNode
from hexsim.onnx_io.read.expansions._parts import ExpansionNodes
from hexsim.onnx_io.read.file_graph import FileGraph

_Expand = Callable[[OnnxNode, FileGraph, ExpansionNodes], str | None]


def qlinear_conv(node: OnnxNode, graph: FileGraph, parts: ExpansionNodes) -> str:
    """Expand QLinearConv; the scale of its bias is the product of input and weight scale."""
    inputs = [_real(node, 0, parts), _real(node, 3, parts, axis=0)]
    if node.input(8):
        scale = parts.add("Mul", [node.required(1), node.required(4)])
        inputs.append(_dequantized([node.input(8), scale], parts, axis=0))
    return _coded(parts.copy("Conv", inputs), node, 6, parts)


def qlinear_matmul(node: OnnxNode, graph: FileGraph, parts: ExpansionNodes) -> str:
    """Expand QLinearMatMul; scales of the right side are per column."""
    rank = graph.rank(node.required(3)) or 2
    inputs = [_real(node, 0, parts), _real(node, 3, parts, axis=rank - 1)]
    return _coded(parts.add("MatMul", inputs), node, 6, parts)


def qgemm(node: OnnxNode, graph: FileGraph, parts: ExpansionNodes) -> str:
    """Expand QGemm; without an output scale, its output is float."""
    axis = 0 if node.integer("transB", 0) else 1
    inputs = [_real(node, 0, parts), _real(node, 3, parts, axis=axis)]
    if node.input(6):
        scale = parts.add("Mul", [node.required(1), node.required(4)])
        inputs.append(_dequantized([node.input(6), scale], parts, axis=0))
    result = parts.copy("Gemm", inputs)
    return _coded(result, node, 7, parts) if node.input(7) else result


def of_two(operator: str) -> _Expand:
    """Return the expansion of a function of two quantised tensors."""

    def expand(node: OnnxNode, graph: FileGraph, parts: ExpansionNodes) -> str:
        inputs = [_real(node, 0, parts), _real(node, 3, parts)]
        return _coded(parts.add(operator, inputs), node, 6, parts)

    return expand


def of_one(operator: str, *without: str) -> _Expand:
    """Return the expansion of a function of one quantised tensor.

    `without` are attributes that the float operator does not have.
    """

    def expand(node: OnnxNode, graph: FileGraph, parts: ExpansionNodes) -> str | None:
        if node.integer("channels_last", 0):
            return None
        result = parts.copy(operator, [_real(node, 0, parts)], ("channels_last", *without))
        return _coded(result, node, 3, parts)

    return expand


def qlinear_concat(node: OnnxNode, graph: FileGraph, parts: ExpansionNodes) -> str:
    """Expand QLinearConcat, whose first inputs are the scale and zero point of its output."""
    inputs = [_real(node, position, parts) for position in range(2, len(node.inputs), 3)]
    return _coded(parts.copy("Concat", inputs), node, 0, parts)


def _real(node: OnnxNode, position: int, parts: ExpansionNodes, axis: int | None = None) -> str:
    """Dequantise the codes at `position`; their scale and zero point follow them."""
    return _dequantized(list(node.inputs[position : position + 3]), parts, axis)


def _dequantized(inputs: list[str], parts: ExpansionNodes, axis: int | None = None) -> str:
    """Add a DequantizeLinear of com.microsoft, which has axes in every opset."""
    axes = {} if axis is None else {"axis": axis}
    present_inputs = [name for name in inputs if name]
    return parts.add("DequantizeLinear", present_inputs, domain="com.microsoft", **axes)


def _coded(result: str, node: OnnxNode, position: int, parts: ExpansionNodes) -> str:
    """Quantise `result` by the scale and zero point at `position`; return all nodes."""
    codes = [name for name in node.inputs[position : position + 2] if name]
    return parts.add("QuantizeLinear", [result, *codes], domain="com.microsoft")


EXPANSIONS = {
    "QLinearConv": qlinear_conv,
    "QLinearMatMul": qlinear_matmul,
    "com.microsoft.QGemm": qgemm,
    "com.microsoft.QLinearAdd": of_two("Add"),
    "com.microsoft.QLinearAveragePool": of_one("AveragePool"),
    "com.microsoft.QLinearConcat": qlinear_concat,
    "com.microsoft.QLinearGlobalAveragePool": of_one("GlobalAveragePool"),
    "com.microsoft.QLinearLeakyRelu": of_one("LeakyRelu"),
    "com.microsoft.QLinearMul": of_two("Mul"),
    "com.microsoft.QLinearSigmoid": of_one("Sigmoid"),
    "com.microsoft.QLinearSoftmax": of_one("Softmax", "opset"),
}
