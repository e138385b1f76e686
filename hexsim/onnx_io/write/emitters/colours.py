"""ColourConversion in operators that every opset has."""

import numpy as np

from hexsim.layers import Clamp, ColourConversion
from hexsim.layers.colour_conversion import YVU_ORIGIN, YVU_TO_BGR
from hexsim.onnx_io.write.graph_builder import Emitters, GraphBuilder

_ROWS, _COLUMNS, _CHANNELS = 1, 2, 3


def emit_colour_conversion(layer: ColourConversion, graph: GraphBuilder) -> None:
    """Gather the channels in another order, or convert NV21 by its matrix, without rounding."""
    data = graph.read(layer.inputs[0])
    if layer.channels is not None:
        indices = graph.literal(np.array(layer.channels, np.int64))
        graph.finish(graph.move("Gather", [data, indices], axis=_CHANNELS), layer.output)
        return
    batch, height, width, _ = graph.shape(layer.output)
    luma = _gather(graph, data, np.arange(height), _ROWS)
    chroma = _gather(graph, data, height + np.arange(height) // 2, _ROWS)
    chroma = graph.reshape(chroma, (batch, height, width // 2, 2))
    chroma = _gather(graph, chroma, np.arange(width) // 2, _COLUMNS)
    colours = graph.move("Concat", [luma, chroma], axis=_CHANNELS)
    origin = graph.literal(np.array(YVU_ORIGIN, np.float32))
    colours = graph.compute("Sub", [colours, origin])
    colours = graph.compute("MatMul", [colours, graph.literal(np.array(YVU_TO_BGR, np.float32))])
    graph.finish(colours, layer.output, Clamp(0.0, 255.0))


def _gather(graph: GraphBuilder, data: str, indices: np.ndarray, axis: int) -> str:
    return graph.move("Gather", [data, graph.literal(indices.astype(np.int64))], axis=axis)


EMITTERS: Emitters = {ColourConversion: emit_colour_conversion}
