"""Expands operators that are two others: most of them onnxruntime's optimiser fused.

Not supported: a FusedMatMul that transposes a tensor of unknown rank.

Expands activations of com.microsoft into standard operators.
"""

import math
from collections.abc import Sequence
from typing import Any

from hexsim.onnx_io.file.node import OnnxNode
from hexsim.onnx_io.read.expansions._parts import ExpansionNodes
from hexsim.onnx_io.read.file_graph import FileGraph

_PARAMETERS = {
    "LeakyRelu": ("alpha",),
    "Elu": ("alpha",),
    "HardSigmoid": ("alpha", "beta"),
    "Clip": ("min", "max"),
}
"""Attributes of an activation, in the order of its parameters."""
_FIRST_THAT_BROADCASTS = 7
"""Opset since which operators of two tensors broadcast without attributes."""
_BOUNDS_AS_INPUTS = 11
"""Opset since which Clip has its bounds as inputs."""


def fused_conv(node: OnnxNode, graph: FileGraph, parts: ExpansionNodes) -> str:
    """FusedConv is a Conv, a sum with its fourth input if there is one, and an activation."""
    inputs = [name for name in node.inputs[:3] if name]
    result = parts.copy("Conv", inputs, ("activation", "activation_params"))
    if node.input(3):
        result = parts.add("Add", [result, node.input(3)])
    parameters = node.reals("activation_params") or ()
    return _activated(result, node, parameters, parts, graph)


def fused_gemm(node: OnnxNode, graph: FileGraph, parts: ExpansionNodes) -> str:
    """FusedGemm is a Gemm and an activation."""
    omitted = ("activation", "activation_alpha", "activation_beta", "activation_gamma")
    result = parts.copy("Gemm", [name for name in node.inputs if name], omitted)
    parameters = [node.real(name, 0.0) for name in omitted[1:] if node.has(name)]
    return _activated(result, node, parameters, parts, graph)


def fused_matmul(node: OnnxNode, graph: FileGraph, parts: ExpansionNodes) -> str | None:
    """FusedMatMul is a MatMul of tensors perhaps transposed, perhaps scaled."""
    if node.integer("transBatchA", 0) or node.integer("transBatchB", 0):
        return None
    operands = []
    pair = node.required(0), node.required(1)
    for name, flag in zip(pair, ("transA", "transB"), strict=True):
        rank = graph.rank(name)
        if not node.integer(flag, 0):
            operands.append(name)
        elif rank is None or rank < 2:
            return None
        else:
            order = [*range(rank - 2), rank - 1, rank - 2]
            operands.append(parts.add("Transpose", [name], perm=order))
    result = parts.add("MatMul", operands)
    alpha = node.real("alpha", 1.0)
    if alpha != 1:
        result = parts.add("Mul", [result, parts.constant(alpha)])
    return result


def exclusive_or(node: OnnxNode, graph: FileGraph, parts: ExpansionNodes) -> str | None:
    """Xor is Not of Equal, which tensor processors had before Xor."""
    if node.opset < _FIRST_THAT_BROADCASTS:
        return None
    return parts.add("Not", [parts.add("Equal", [node.required(0), node.required(1)])])


def _activated(
    result: str,
    node: OnnxNode,
    parameters: Sequence[float],
    parts: ExpansionNodes,
    graph: FileGraph,
) -> str:
    operator = node.text("activation", "")
    if not operator:
        return result
    attributes: dict[str, Any] = dict(zip(_PARAMETERS.get(operator, ()), parameters, strict=False))
    if operator == "Clip" and graph.opset >= _BOUNDS_AS_INPUTS:
        return parts.add(
            operator, [result, *(parts.constant(attribute) for attribute in attributes.values())]
        )
    return parts.add(operator, [result], **attributes)


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
    "com.microsoft.FusedConv": fused_conv,
    "com.microsoft.FusedGemm": fused_gemm,
    "com.microsoft.FusedMatMul": fused_matmul,
    "com.microsoft.TransposeMatMul": fused_matmul,
    "com.microsoft.Gelu": gelu,
    "com.microsoft.BiasGelu": gelu,
    "com.microsoft.FastGelu": fast_gelu,
    "com.microsoft.QuickGelu": quick_gelu,
    "com.microsoft.BiasAdd": bias_add,
    "Xor": exclusive_or,
}
