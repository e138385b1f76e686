"""Expands layer norms that onnxruntime's optimiser fused with the sums before them.

Not supported: norms whose mean or deviation is read.
"""

from collections.abc import Sequence

from hexsim.onnx_io.file.node import OnnxNode
from hexsim.onnx_io.read.expansions._parts import ExpansionNodes
from hexsim.onnx_io.read.file_graph import FileGraph

_EPSILON = 1e-12
"""Default of the fused operators."""
_STATISTICS = slice(1, 3)
"""Outputs that hold mean and deviation."""
_SUM = 3
"""The output with the sum before the norm."""


def layer_norm(x: str, scale: str, shift: str, node: OnnxNode, parts: ExpansionNodes) -> str:
    """Normalise `x` along its last axis; `shift` may be empty."""
    centred = parts.add("Sub", [x, parts.mean(x)])
    return _scaled(centred, scale, shift, node.real("epsilon", _EPSILON), parts)


def skip_layer_norm(node: OnnxNode, graph: FileGraph, parts: ExpansionNodes) -> str | None:
    """Expand SkipLayerNormalization: the sum of two tensors and an optional bias, normalised."""
    if any(node.outputs[_STATISTICS]):
        return None
    x = _sum_of(node, (0, 1, 4), parts)
    result = layer_norm(x, node.required(2), node.input(3), node, parts)
    parts.hand_out(x, _SUM)
    return result


def skip_root_mean_square_norm(
    node: OnnxNode, graph: FileGraph, parts: ExpansionNodes
) -> str | None:
    """Expand SkipSimplifiedLayerNormalization: the same without subtracting the mean."""
    if any(node.outputs[_STATISTICS]):
        return None
    x = _sum_of(node, (0, 1, 3), parts)
    epsilon = node.real("epsilon", _EPSILON)
    result = _scaled(x, node.required(2), "", epsilon, parts)
    parts.hand_out(x, _SUM)
    return result


def root_mean_square_norm(node: OnnxNode, graph: FileGraph, parts: ExpansionNodes) -> str | None:
    """Expand SimplifiedLayerNormalization, which onnxruntime has in the standard domain."""
    if any(node.outputs[1:]) or node.integer("axis", -1) != -1:
        return None
    x, scale = node.required(0), node.required(1)
    return _scaled(x, scale, "", node.real("epsilon", 1e-5), parts)


def _scaled(x: str, scale: str, shift: str, epsilon: float, parts: ExpansionNodes) -> str:
    """Divide `x` by its root mean square, then scale and shift."""
    square = parts.mean(parts.add("Mul", [x, x]))
    root = parts.add("Sqrt", [parts.add("Add", [square, parts.constant(epsilon)])])
    result = parts.add("Mul", [parts.add("Div", [x, root]), scale])
    return parts.add("Add", [result, shift]) if shift else result


def _sum_of(node: OnnxNode, positions: Sequence[int], parts: ExpansionNodes) -> str:
    total = node.required(positions[0])
    for name in filter(None, map(node.input, positions[1:])):
        total = parts.add("Add", [total, name])
    return total


EXPANSIONS = {
    "SimplifiedLayerNormalization": root_mean_square_norm,
    "com.microsoft.SkipLayerNormalization": skip_layer_norm,
    "com.microsoft.SkipSimplifiedLayerNormalization": skip_root_mean_square_norm,
}
