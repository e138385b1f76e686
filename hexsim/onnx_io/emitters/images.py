"""Convolution, Pooling and LocalResponseNorm: channels first in ONNX, so between transposes."""

from __future__ import annotations

from hexsim.layers import Convolution, LocalResponseNorm, Pooling, Window
from hexsim.onnx_io.graph_builder import Emitters, GraphBuilder

_TO_CHANNELS_FIRST = (0, 3, 1, 2)
_TO_CHANNELS_LAST = (0, 2, 3, 1)


def emit_convolution(layer: Convolution, graph: GraphBuilder) -> None:
    """Conv, then the bias if it is added separately, then the clamp."""
    weight = graph.constant(layer.weight, "oihw", lambda array: array.transpose(3, 2, 0, 1))
    inputs = [_channels_first(layer.inputs[0], graph), weight]
    if layer.bias is not None and not graph.separate_bias:
        inputs.append(graph.constant(layer.bias))
    result = graph.compute(
        "Conv",
        inputs,
        kernel_shape=layer.window.kernel,
        strides=layer.window.strides,
        pads=layer.window.pads,
        dilations=layer.window.dilations,
        group=layer.groups,
    )
    result = graph.transpose(result, _TO_CHANNELS_LAST)
    if layer.bias is not None and graph.separate_bias:
        result = graph.compute("Add", [result, graph.constant(layer.bias)])
    dtype = graph.network.tensors[layer.output].dtype
    graph.finish(graph.clamped(result, layer.clamp, dtype), layer.output)


def emit_pooling(layer: Pooling, graph: GraphBuilder) -> None:
    """MaxPool or AveragePool."""
    data = _channels_first(layer.inputs[0], graph)
    attributes = _window_attributes(layer.window)
    if layer.kind == "max":
        result = graph.move("MaxPool", [data], **attributes)
    else:
        padded = int(layer.count_include_pad)
        result = graph.compute("AveragePool", [data], count_include_pad=padded, **attributes)
    graph.finish(graph.transpose(result, _TO_CHANNELS_LAST), layer.output)


def emit_local_response_norm(layer: LocalResponseNorm, graph: GraphBuilder) -> None:
    """LRN."""
    result = graph.compute(
        "LRN",
        [_channels_first(layer.inputs[0], graph)],
        size=layer.size,
        alpha=layer.alpha,
        beta=layer.beta,
        bias=layer.bias,
    )
    graph.finish(graph.transpose(result, _TO_CHANNELS_LAST), layer.output)


def _channels_first(name: str, graph: GraphBuilder) -> str:
    return graph.transpose(graph.read(name), _TO_CHANNELS_FIRST)


def _window_attributes(window: Window) -> dict[str, object]:
    """Attributes of a pooling; those of later opsets only where they say something."""
    attributes: dict[str, object] = {
        "kernel_shape": window.kernel,
        "strides": window.strides,
        "pads": window.pads,
    }
    if window.dilations != (1, 1):
        attributes["dilations"] = window.dilations
    if window.ceil_mode:
        attributes["ceil_mode"] = 1
    return attributes


EMITTERS: Emitters = {
    Convolution: emit_convolution,
    Pooling: emit_pooling,
    LocalResponseNorm: emit_local_response_norm,
}
