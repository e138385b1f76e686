"""Expands norms and logarithms of sums into elementwise functions and sums along axes.

The logarithm of a sum of exponentials first subtracts the largest number, so that no number is too
large for floats or codes.
"""

from typing import Any

from hexsim.onnx_io.file.node import OnnxNode
from hexsim.onnx_io.read.expansions._parts import ExpansionNodes
from hexsim.onnx_io.read.file_graph import FileGraph

_AXES_ARE_INPUTS = 18
"""Opset from which these nodes and ReduceMax have their axes as an input."""
_SUM_AXES_ARE_INPUTS = 13
"""Opset from which ReduceSum has its axes as an input."""


def l1_norm(node: OnnxNode, graph: FileGraph, parts: ExpansionNodes) -> str:
    """The sum of absolute values."""
    return _sum(node, graph, parts, parts.add("Abs", [node.required(0)]))


def l2_norm(node: OnnxNode, graph: FileGraph, parts: ExpansionNodes) -> str:
    """The root of the sum of squares."""
    squares = parts.add("Mul", [node.required(0), node.required(0)])
    return parts.add("Sqrt", [_sum(node, graph, parts, squares)])


def log_sum(node: OnnxNode, graph: FileGraph, parts: ExpansionNodes) -> str:
    """The logarithm of the sum."""
    return parts.add("Log", [_sum(node, graph, parts, node.required(0))])


def log_sum_exp(node: OnnxNode, graph: FileGraph, parts: ExpansionNodes) -> str | None:
    """The largest number plus the logarithm of the sum of exponentials of differences to it."""
    if not node.integer("keepdims", 1):
        return None  # the largest number would be needed with and without its axes
    x = node.required(0)
    if graph.opset >= _AXES_ARE_INPUTS:
        largest = parts.add("ReduceMax", [x, *node.inputs[1:]], **_flags(node))
    else:
        largest = parts.add("ReduceMax", [x], **_flags(node), **_axes(node))
    exponentials = parts.add("Exp", [parts.add("Sub", [x, largest])])
    below = parts.add("Log", [_sum(node, graph, parts, exponentials)])
    return parts.add("Add", [largest, below])


def _sum(node: OnnxNode, graph: FileGraph, parts: ExpansionNodes, x: str) -> str:
    """The sum of `x` along the axes of the node."""
    if graph.opset >= _AXES_ARE_INPUTS:
        return parts.add("ReduceSum", [x, *node.inputs[1:]], **_flags(node))
    axes = node.integers("axes")
    if not axes or graph.opset < _SUM_AXES_ARE_INPUTS:
        return parts.add("ReduceSum", [x], keepdims=node.integer("keepdims", 1), **_axes(node))
    axes_name = parts.constant(axes, "int64")
    return parts.add("ReduceSum", [x, axes_name], keepdims=node.integer("keepdims", 1))


def _axes(node: OnnxNode) -> dict[str, Any]:
    axes = node.integers("axes")
    return {"axes": list(axes)} if axes else {}


def _flags(node: OnnxNode) -> dict[str, Any]:
    flags: dict[str, Any] = {"keepdims": node.integer("keepdims", 1)}
    if node.has("noop_with_empty_axes"):
        flags["noop_with_empty_axes"] = node.integer("noop_with_empty_axes", 0)
    return flags


EXPANSIONS = {
    "ReduceL1": l1_norm,
    "ReduceL2": l2_norm,
    "ReduceLogSum": log_sum,
    "ReduceLogSumExp": log_sum_exp,
}
