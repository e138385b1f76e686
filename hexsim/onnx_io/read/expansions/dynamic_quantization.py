"""Expands dynamic quantisation, where the range of an activation is computed at run time.

SNPE has no such layers, so the network becomes a float network, quantised like any other. If only
integer products read the codes of a DynamicQuantizeLinear, it passes its input on with scale 1 and
zero point 0, and the products become float products with the codes of the weights. The scale of
their results, 1 times the scale of the weights, is folded into them.
"""

from collections.abc import Mapping, Sequence

import onnx

from hexsim.onnx_io.file.node import OnnxNode
from hexsim.onnx_io.read.expansions._parts import ExpansionNodes
from hexsim.onnx_io.read.file_graph import FileGraph

_PRODUCTS = {"ConvInteger": "Conv", "MatMulInteger": "MatMul"}
_CODES: Mapping[str, tuple[int, int | None, int]] = {
    "ConvInteger": (0, None, 2),
    "MatMulInteger": (0, None, 2),
    "com.microsoft.MatMulIntegerToFloat": (0, 2, 4),
    "com.microsoft.QAttention": (0, 3, 6),
}
"""Positions of an activation's codes, its scale (if read) and its zero point among the inputs."""


def dynamic_quantize_linear(node: OnnxNode, graph: FileGraph, parts: ExpansionNodes) -> str | None:
    """Pass the floats on if only integer products read the codes."""
    if not _hands_on_floats(node, graph):
        return None
    _, scale, zero = node.outputs
    parts.constant(1.0, output=scale)
    parts.constant(0.0, output=zero)
    return parts.add("Identity", [node.required(0)])


def integer_product(node: OnnxNode, graph: FileGraph, parts: ExpansionNodes) -> str | None:
    """Expand ConvInteger and MatMulInteger of such floats to Conv and MatMul."""
    quantize = graph.producers.get(node.required(0))
    if quantize is None or not _hands_on_floats(quantize, graph):
        return None
    weight = parts.add("Cast", [node.required(1)], to=onnx.TensorProto.FLOAT)
    if node.input(3):
        zero = parts.add("Cast", [node.input(3)], to=onnx.TensorProto.FLOAT)
        rank = graph.rank(node.required(1))
        if node.standard == "ConvInteger" and graph.rank(node.input(3)) != 0:
            if rank is None:
                return None
            zero = parts.reshape(zero, [-1, *(1,) * (rank - 1)])
        weight = parts.add("Sub", [weight, zero])
    return parts.copy(_PRODUCTS[node.standard], [node.required(0), weight])


def dynamic_quantize_matmul(node: OnnxNode, graph: FileGraph, parts: ExpansionNodes) -> str:
    """DynamicQuantizeMatMul is a product with dequantised weights, and a sum with its bias."""
    weight = dequantized(node, (1, 2, 3), graph, parts)
    result = parts.add("MatMul", [node.required(0), weight])
    return parts.add("Add", [result, node.input(4)]) if node.input(4) else result


def matmul_to_float(node: OnnxNode, graph: FileGraph, parts: ExpansionNodes) -> str:
    """MatMulIntegerToFloat is a product of dequantised tensors, and a sum with its bias."""
    data = real_codes(node, (0, 2, 4), graph, parts)
    result = parts.add("MatMul", [data, dequantized(node, (1, 3, 5), graph, parts)])
    return parts.add("Add", [result, node.input(6)]) if node.input(6) else result


def real_codes(
    node: OnnxNode, places: Sequence[int], graph: FileGraph, parts: ExpansionNodes
) -> str:
    """Name the floats of an activation with codes, scale and zero point at input `places`."""
    writer = graph.producers.get(node.required(places[0]))
    if writer is not None and _hands_on_floats(writer, graph):
        return node.required(places[0])
    return dequantized(node, places, graph, parts)


def dequantized(
    node: OnnxNode, places: Sequence[int], graph: FileGraph, parts: ExpansionNodes
) -> str:
    """Dequantise codes with one scale, or one per column; return the name of the floats."""
    codes, scale, zero = (node.input(place) for place in places)
    axis = {} if graph.rank(scale) == 0 else {"axis": 1}
    inputs = [name for name in (codes, scale, zero) if name]
    return parts.add("DequantizeLinear", inputs, domain="com.microsoft", **axis)


def _hands_on_floats(node: OnnxNode, graph: FileGraph) -> bool:
    """True if only products that accept floats read the codes of a DynamicQuantizeLinear."""
    if node.op_type != "DynamicQuantizeLinear" or len(node.outputs) != 3:
        return False
    values, scale, zero = node.outputs
    if {values, zero} & graph.outputs:
        return False
    for name in (values, zero):
        for reader in graph.readers.get(name, ()):
            places = _CODES.get(reader.op_type)
            if places is None:
                return False
            expected = zip(places, (values, scale, zero), strict=True)
            if any(
                place is not None and reader.input(place) != tensor for place, tensor in expected
            ):
                return False
    return True


EXPANSIONS = {
    "DynamicQuantizeLinear": dynamic_quantize_linear,
    "ConvInteger": integer_product,
    "MatMulInteger": integer_product,
    "com.microsoft.DynamicQuantizeMatMul": dynamic_quantize_matmul,
    "com.microsoft.MatMulIntegerToFloat": matmul_to_float,
}
