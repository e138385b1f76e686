"""MaxPool, AveragePool and their global forms, in one, two and three dimensions."""

from collections.abc import Callable
from typing import Literal

from hexsim.errors import InvalidDataError
from hexsim.graph.ir import Tensor
from hexsim.layers import Pooling, Window
from hexsim.onnx_io.file.axis_order import channels_last
from hexsim.onnx_io.file.node import NotALayerError, OnnxNode
from hexsim.onnx_io.read.importer import Importer
from hexsim.onnx_io.read.operators._one_dimensional import also_1d
from hexsim.onnx_io.read.operators._three_dimensional import also_3d, pooling, pooling_all
from hexsim.onnx_io.read.operators._windows import read_window

Kind = Literal["max", "average"]


def windowed(kind: Kind) -> Callable[[OnnxNode, Importer], None]:
    """MaxPool and AveragePool become Pooling, unless the indices of the maxima are used."""

    def translate(node: OnnxNode, net: Importer) -> None:
        data = net.tensor(node.input(0), rank=4)
        if any(net.facts.uses[name] for name in node.outputs[1:]):
            raise NotALayerError("indices are used")
        kernel = node.integers("kernel_shape") or ()
        if len(kernel) != 2:
            raise InvalidDataError(f"kernel_shape {list(kernel)} does not fit an image")
        height, width = data.source_shape[2:]
        window = read_window(node, (kernel[0], kernel[1]), (height, width))
        if kind == "average" and window.dilations != (1, 1):
            raise NotALayerError("dilated average")
        padded = bool(node.integer("count_include_pad", 0))
        _add(node, net, data, kind, window, node.output, padded)

    return translate


def whole_image(kind: Kind) -> Callable[[OnnxNode, Importer], None]:
    """GlobalMaxPool and GlobalAveragePool become a Pooling as large as the image."""

    def translate(node: OnnxNode, net: Importer) -> None:
        data = net.tensor(node.input(0), rank=4)
        _add(node, net, data, kind, _whole(data), node.output)

    return translate


def _whole(data: Tensor) -> Window:
    height, width = data.source_shape[2:]
    return Window((height, width))


def _add(
    node: OnnxNode,
    net: Importer,
    data: Tensor,
    kind: Kind,
    window: Window,
    output: str,
    count_include_pad: bool = False,
) -> None:
    net.add(
        Pooling(
            name=node.name,
            inputs=(net.channels_last(data.name),),
            outputs=(output,),
            kind=kind,
            window=window,
            count_include_pad=count_include_pad,
        ),
        channels_last(4),
    )


TRANSLATORS = {
    "MaxPool": also_1d(also_3d(pooling, windowed("max"))),
    "AveragePool": also_1d(also_3d(pooling, windowed("average"))),
    "GlobalMaxPool": also_1d(also_3d(pooling_all, whole_image("max"))),
    "GlobalAveragePool": also_1d(also_3d(pooling_all, whole_image("average"))),
}
