"""Expands activations of com.microsoft into standard operators."""

import math

from hexsim.onnx_io.file.node import OnnxNode
from hexsim.onnx_io.read.expansions._parts import ExpansionNodes
from hexsim.onnx_io.read.file_graph import FileGraph

_FIRST_WITH_ERF = 9


def gelu(node: OnnxNode, graph: FileGraph, parts: ExpansionNodes) -> str | None:
    """Gelu, and BiasGelu, which adds its second input first, by the error function."""
    if graph.opset < _FIRST_WITH_ERF:
        return None
    x = _biased(node, parts)
    inner = parts.add("Mul", [x, parts.constant(math.sqrt(0.5))])
    return _half_of_one_plus(x, parts.add("Erf", [inner]), parts)


def fast_gelu(node: OnnxNode, graph: FileGraph, parts: ExpansionNodes) -> str:
    """FastGelu, perhaps with a bias, by the hyperbolic tangent."""
    x = _biased(node, parts)
    cube = parts.add("Mul", [parts.add("Mul", [x, x]), x])
    inner = parts.add("Add", [x, parts.add("Mul", [cube, parts.constant(0.044715)])])
    inner = parts.add("Mul", [inner, parts.constant(math.sqrt(2 / math.pi))])
    return _half_of_one_plus(x, parts.add("Tanh", [inner]), parts)


def quick_gelu(node: OnnxNode, graph: FileGraph, parts: ExpansionNodes) -> str:
    """QuickGelu is x * sigmoid(alpha * x)."""
    alpha = parts.constant(node.real("alpha", 1.702))
    gate = parts.add("Sigmoid", [parts.add("Mul", [node.required(0), alpha])])
    return parts.add("Mul", [node.required(0), gate])


def bias_add(node: OnnxNode, graph: FileGraph, parts: ExpansionNodes) -> str:
    """BiasAdd is the sum of all its inputs."""
    total = node.required(0)
    for name in (node.required(1), *filter(None, node.inputs[2:])):
        total = parts.add("Add", [total, name])
    return total


def _biased(node: OnnxNode, parts: ExpansionNodes) -> str:
    bias = node.input(1)
    return parts.add("Add", [node.required(0), bias]) if bias else node.required(0)


def _half_of_one_plus(x: str, gate: str, parts: ExpansionNodes) -> str:
    opened = parts.add("Add", [gate, parts.constant(1.0)])
    half = parts.add("Mul", [x, parts.constant(0.5)])
    return parts.add("Mul", [half, opened])


EXPANSIONS = {
    "com.microsoft.Gelu": gelu,
    "com.microsoft.BiasGelu": gelu,
    "com.microsoft.FastGelu": fast_gelu,
    "com.microsoft.QuickGelu": quick_gelu,
    "com.microsoft.BiasAdd": bias_add,
}
