"""Expands operators that are several others: most of them onnxruntime's optimiser fused.

Not supported: a FusedMatMul that transposes a tensor of unknown rank, norms whose mean or deviation
is read, and a lengths output of EmbedLayerNormalization that is read although there is no mask.

The logarithm of a sum of exponentials first subtracts the largest number, so that no number is too
large for floats or codes.
"""

import math
from collections.abc import Sequence
from typing import Any

import onnx

from hexsim.onnx_io.file.node import NotALayerError, OnnxNode
from hexsim.onnx_io.read.expansions._parts import ExpansionNodes
from hexsim.onnx_io.read.file_graph import FileGraph
from hexsim.onnx_io.read.importer import Importer

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


_LENGTHS, _EMBEDDED_SUM = 1, 2
"""Outputs with the number of tokens that are not masked, and with the sum before the norm."""


def embed_layer_norm(node: OnnxNode, graph: FileGraph, parts: ExpansionNodes) -> str | None:
    """Add the rows of words, positions and, if present, segments, and normalise the sum."""
    ids, segments, words, positions, segment_table, scale, shift, mask, position_ids = (
        node.input(position) for position in range(9)
    )
    for position in (0, 2, 3, 5):  # all but segments, shift, mask and places
        node.required(position)
    lengths = len(node.outputs) > _LENGTHS and node.outputs[_LENGTHS]
    if lengths and not mask and (graph.readers.get(lengths) or lengths in graph.outputs):
        return None
    if node.integer("mask_index_type", 1 if mask else 0) != (1 if mask else 0):
        return None
    total = parts.add("Gather", [words, ids], axis=0)
    if position_ids:
        total = parts.add("Add", [total, parts.add("Gather", [positions, position_ids], axis=0)])
    else:
        length = parts.add("Gather", [parts.add("Shape", [ids]), _whole([1], parts)], axis=0)
        slice_inputs = [_whole([0], parts), length, _whole([0], parts)]
        total = parts.add("Add", [total, parts.add("Slice", [positions, *slice_inputs])])
    if segments:
        total = parts.add("Add", [total, parts.add("Gather", [segment_table, segments], axis=0)])
    result = layer_norm(total, scale, shift, node, parts)
    if mask:
        parts.hand_out(parts.sum(mask, [1]), _LENGTHS)
    parts.hand_out(total, _EMBEDDED_SUM)
    return result


def _whole(numbers: Sequence[int], parts: ExpansionNodes) -> str:
    return parts.constant(numbers, "int64")


_AXES_ARE_INPUTS = 18
"""Opset from which these nodes and ReduceMax have their axes as an input."""
_SUM_AXES_ARE_INPUTS = 13
"""Opset from which ReduceSum and Squeeze have their axes as an input."""


def l1_norm(node: OnnxNode, graph: FileGraph, parts: ExpansionNodes) -> str:
    """The sum of absolute values."""
    return _reduced("ReduceSum", parts.add("Abs", [node.required(0)]), node, graph, parts)


def l2_norm(node: OnnxNode, graph: FileGraph, parts: ExpansionNodes) -> str:
    """The root of the sum of squares."""
    squares = parts.add("Mul", [node.required(0), node.required(0)])
    return parts.add("Sqrt", [_reduced("ReduceSum", squares, node, graph, parts)])


def log_sum(node: OnnxNode, graph: FileGraph, parts: ExpansionNodes) -> str:
    """The logarithm of the sum."""
    return parts.add("Log", [_reduced("ReduceSum", node.required(0), node, graph, parts)])


def log_sum_exp(node: OnnxNode, graph: FileGraph, parts: ExpansionNodes) -> str | None:
    """The largest number plus the logarithm of the sum of exponentials of differences to it."""
    x, keeps = node.required(0), node.integer("keepdims", 1)
    if not keeps and node.integer("noop_with_empty_axes", 0):
        return None  # whether there are axes to drop is not known here
    largest = _reduced("ReduceMax", x, node, graph, parts, keepdims=1)
    exponentials = parts.add("Exp", [parts.add("Sub", [x, largest])])
    total = _reduced("ReduceSum", exponentials, node, graph, parts, keepdims=1)
    total = parts.add("Add", [largest, parts.add("Log", [total])])
    return total if keeps else _on_axes("Squeeze", total, node, graph, parts)


def _reduced(
    operator: str, x: str, node: OnnxNode, graph: FileGraph, parts: ExpansionNodes, **flags: Any
) -> str:
    """Reduce `x` along the axes of the node, by its flags unless others are given."""
    for name, default in (("keepdims", 1), ("noop_with_empty_axes", 0)):
        if name == "keepdims" or node.has(name):
            flags.setdefault(name, node.integer(name, default))
    return _on_axes(operator, x, node, graph, parts, **flags)


def _on_axes(
    operator: str, x: str, node: OnnxNode, graph: FileGraph, parts: ExpansionNodes, **flags: Any
) -> str:
    """Add an operator with the axes of the node, which newer ones have as an input."""
    if graph.opset >= _AXES_ARE_INPUTS:
        return parts.add(operator, [x, *node.inputs[1:]], **flags)
    axes = node.integers("axes") or ()
    if axes and graph.opset >= _SUM_AXES_ARE_INPUTS and operator != "ReduceMax":
        return parts.add(operator, [x, parts.constant(axes, "int64")], **flags)
    return parts.add(operator, [x], **flags | ({"axes": list(axes)} if axes else {}))


def relu6(node: OnnxNode, graph: FileGraph, parts: ExpansionNodes) -> str:
    """Relu6, which converters write though ONNX has none, is min(x or slope * x, 6)."""
    source = node.required(0)
    slope = node.real("negative_slope", node.real("alpha", 0.0))
    first = parts.add("LeakyRelu", [source], alpha=slope) if slope else parts.add("Relu", [source])
    return parts.add("Min", [first, parts.constant(6.0)])


def column_to_image(node: OnnxNode, net: Importer) -> Sequence[onnx.NodeProto]:
    """Col2Im of square blocks side by side is a Reshape and a DepthToSpace."""
    shape = net.source_shape(node.required(0))
    sizes, block = (net.sizes(node.required(place)) for place in (1, 2))
    sides = {*block, *(node.integers("strides") or (1,))}
    side = max(sides, default=0)
    moved = any(node.integers("pads") or ()) or {1, *(node.integers("dilations") or ())} != {1}
    if moved or (len(shape), len(sizes), len(block), len(sides)) != (3, 2, 2, 1) or side < 1:
        raise NotALayerError("its blocks overlap, leave gaps or are no squares")
    if any(size % side for size in sizes):
        raise NotALayerError("its blocks do not fill the image")
    parts = ExpansionNodes(node)
    grid = parts.reshape(node.required(0), [*shape[:2], *(size // side for size in sizes)])
    return parts.finish(parts.add("DepthToSpace", [grid], blocksize=side, mode="CRD"))


SHAPED = {"Col2Im": column_to_image}
EXPANSIONS = {
    "Relu6": relu6,
    "ReLU6": relu6,
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
    "SimplifiedLayerNormalization": root_mean_square_norm,
    "com.microsoft.SkipLayerNormalization": skip_layer_norm,
    "com.microsoft.SkipSimplifiedLayerNormalization": skip_root_mean_square_norm,
    "com.microsoft.EmbedLayerNormalization": embed_layer_norm,
    "ReduceL1": l1_norm,
    "ReduceL2": l2_norm,
    "ReduceLogSum": log_sum,
    "ReduceLogSumExp": log_sum_exp,
}
