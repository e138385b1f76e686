"""Layers that are channels first in ONNX, written between transposes: windows, LRN, Resize."""

import numpy as np

from hexsim import layers
from hexsim.onnx_io.file.known import Array
from hexsim.onnx_io.write.graph_builder import Emitters, GraphBuilder

_TO_CHANNELS_FIRST = (0, 3, 1, 2)
_TO_CHANNELS_LAST = (0, 2, 3, 1)


def emit_convolution(layer: layers.Convolution, graph: GraphBuilder) -> None:
    """Conv, then the bias if it is added separately, then the clamp."""
    weight = graph.constant(layer.weight, "oihw", lambda array: array.transpose(3, 2, 0, 1))
    _emit_filtering("Conv", layer, weight, graph)


def emit_deconvolution(layer: layers.Deconvolution, graph: GraphBuilder) -> None:
    """ConvTranspose, then bias and clamp as for a convolution."""

    def input_first(array: Array) -> Array:
        height, width, inputs, outputs = array.shape
        parts = array.reshape(height, width, inputs, layer.groups, outputs // layer.groups)
        return parts.transpose(3, 2, 4, 0, 1).reshape(
            layer.groups * inputs, outputs // layer.groups, height, width
        )

    weight = graph.constant(layer.weight, f"iohw_{layer.groups}", input_first)
    _emit_filtering("ConvTranspose", layer, weight, graph, output_padding=layer.output_padding)


def _emit_filtering(
    operator: str, layer: layers.Filtering, weight: str, graph: GraphBuilder, **attributes: object
) -> None:
    inputs = [_channels_first(layer.inputs[0], graph), weight]
    if layer.bias is not None and not graph.separate_bias:
        inputs.append(graph.constant(layer.bias))
    result = graph.compute(
        operator,
        inputs,
        kernel_shape=layer.window.kernel,
        strides=layer.window.strides,
        pads=layer.window.pads,
        dilations=layer.window.dilations,
        group=layer.groups,
        **attributes,
    )
    result = graph.transpose(result, _TO_CHANNELS_LAST)
    if layer.bias is not None and graph.separate_bias:
        result = graph.compute("Add", [result, graph.constant(layer.bias)])
    graph.finish(result, layer.output, layer.clamp)


def emit_pooling(layer: layers.Pooling, graph: GraphBuilder) -> None:
    """MaxPool or AveragePool."""
    data = _channels_first(layer.inputs[0], graph)
    attributes = _window_attributes(layer.window)
    if layer.kind == "max":
        result = graph.move("MaxPool", [data], **attributes)
    else:
        padded = int(layer.count_include_pad)
        result = graph.compute("AveragePool", [data], count_include_pad=padded, **attributes)
    graph.finish(graph.transpose(result, _TO_CHANNELS_LAST), layer.output)


def emit_local_response_norm(layer: layers.LocalResponseNorm, graph: GraphBuilder) -> None:
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


def emit_resize(layer: layers.Resize, graph: GraphBuilder) -> None:
    """Resize in the form of the opset: one mode only before opset 11, Upsample before opset 10."""
    operator = "Upsample" if graph.opset < 10 else "Resize"
    inputs = [_channels_first(layer.inputs[0], graph)]
    modes: dict[str, object] = {"mode": "linear" if layer.kind == "bilinear" else "nearest"}
    if graph.opset < 11:
        inputs.append(_scales(layer, graph))
    else:
        none = "" if graph.opset >= 13 else graph.literal(np.empty(0, np.float32))
        by_scales = layer.size is None
        inputs += [none, _scales(layer, graph)] if by_scales else [none, none, _sizes(layer, graph)]
        modes["coordinate_transformation_mode"] = layer.coordinates
        modes["nearest_mode"] = layer.rounding
    if layer.aspect != "stretch":
        inputs[0] = graph.out_of_reach(inputs[0])
        modes |= {"keep_aspect_ratio_policy": layer.aspect, "axes": [2, 3]}
    write = graph.compute if layer.kind == "bilinear" else graph.move
    result = write(operator, inputs, **modes)
    graph.finish(graph.transpose(result, _TO_CHANNELS_LAST), layer.output)


def _scales(layer: layers.Resize, graph: GraphBuilder) -> str:
    _, height, width, _ = graph.shape(layer.inputs[0])
    return graph.literal(np.array([1, 1, *layer.scales_of(height, width)], np.float32))


def _sizes(layer: layers.Resize, graph: GraphBuilder) -> str:
    if layer.aspect != "stretch":
        return graph.literal(np.array(layer.size, np.int64))
    batch, height, width, channels = graph.shape(layer.output)
    return graph.literal(np.array([batch, channels, height, width], np.int64))


def _channels_first(name: str, graph: GraphBuilder) -> str:
    return graph.transpose(graph.read(name), _TO_CHANNELS_FIRST)


def _window_attributes(window: layers.Window) -> dict[str, object]:
    """Return the attributes of a pooling; those of later opsets only if they are not defaults."""
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
    layers.Convolution: emit_convolution,
    layers.Deconvolution: emit_deconvolution,
    layers.Pooling: emit_pooling,
    layers.LocalResponseNorm: emit_local_response_norm,
    layers.Resize: emit_resize,
}
