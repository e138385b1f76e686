"""Resize and its predecessor Upsample: nearest or bilinear interpolation of images."""

import math
from collections.abc import Sequence
from typing import Literal, TypeVar, get_args

from hexsim.errors import InvalidDataError
from hexsim.graph.ir import Tensor
from hexsim.layers import Resize
from hexsim.layers.resize import CoordinateMode, NearestMode
from hexsim.onnx_io.file.axis_order import channels_last
from hexsim.onnx_io.file.node import NotALayerError, OnnxNode, positive_axis
from hexsim.onnx_io.read.importer import Importer

_KINDS: dict[str, Literal["nearest", "bilinear"]] = {
    "nearest": "nearest",
    "linear": "bilinear",
    "bilinear": "bilinear",
}
_Number = TypeVar("_Number", int, float)
_COORDINATES: dict[str, CoordinateMode] = {mode: mode for mode in get_args(CoordinateMode)}
_ROUNDINGS: dict[str, NearestMode] = {mode: mode for mode in get_args(NearestMode)}


def upsample(node: OnnxNode, net: Importer) -> None:
    """Upsample, and Resize of opset 10: a pixel is read at position / scale, rounded down.

    Shrinking by the nearest pixel is not supported: onnxruntime rounds up, which ONNX does not say.
    """
    data = net.tensor(node.input(0), rank=4)
    scales = _scales(node, net, 1)
    if _kind(node) == "nearest" and min(scales) < 1:
        raise NotALayerError("shrinks without a stated rounding")
    _add(node, net, data, scales, None, "asymmetric", "floor")


def resize(node: OnnxNode, net: Importer) -> None:
    """Resize by scales or to sizes, of height and width, in the modes of onnx opset 11."""
    if node.opset < 11:
        upsample(node, net)
        return
    data = net.tensor(node.input(0), rank=4)
    coordinates = node.text("coordinate_transformation_mode", "half_pixel")
    rounding = node.text("nearest_mode", "round_prefer_floor")
    if coordinates not in _COORDINATES or rounding not in _ROUNDINGS:
        raise NotALayerError(f"coordinates '{coordinates}', rounding '{rounding}'")
    if node.integer("antialias", 0):
        raise NotALayerError("antialiases")
    if node.text("keep_aspect_ratio_policy", "stretch") != "stretch":
        raise NotALayerError("keeps the aspect ratio")
    sizes = net.integers(node, "sizes", 3)
    if sizes:
        sizes, scales = _of_all_axes(node, sizes, data.source_shape), None
    else:
        sizes, scales = None, _scales(node, net, 2)
    _add(
        node, net, data, scales, sizes, _COORDINATES[coordinates], _ROUNDINGS[rounding]
    )  # fmt: skip


def _kind(node: OnnxNode) -> Literal["nearest", "bilinear"]:
    mode = node.text("mode", "nearest")
    if mode not in _KINDS:
        raise NotALayerError(f"mode '{mode}'")
    return _KINDS[mode]


def _scales(node: OnnxNode, net: Importer, position: int) -> tuple[float, ...]:
    """Return the scales of all four axes; they are an attribute in Upsample of opset 7."""
    scales = node.reals("scales")
    if scales is None:
        name = node.input(position)
        scales = tuple(float(x) for x in net.array(name).read().reshape(-1)) if name else ()
    if not scales or not all(0 < scale < math.inf for scale in scales):
        raise InvalidDataError("neither sizes nor positive scales are given")
    return _of_all_axes(node, scales, (1.0,) * 4)


def _of_all_axes(
    node: OnnxNode, numbers: Sequence[_Number], defaults: Sequence[_Number]
) -> tuple[_Number, ...]:
    """Return numbers for four axes; the attribute `axes` (opset 18) lists those of `numbers`."""
    axes = node.integers("axes") or range(4)
    if len(numbers) != len(axes):
        raise InvalidDataError(f"{len(numbers)} sizes or scales for {len(axes)} axes")
    result = list(defaults)
    for axis, number in zip(axes, numbers, strict=True):
        result[positive_axis(axis, 4)] = number
    return tuple(result)


def _add(
    node: OnnxNode,
    net: Importer,
    data: Tensor,
    scales: Sequence[float] | None,
    sizes: Sequence[int] | None,
    coordinates: CoordinateMode,
    rounding: NearestMode,
) -> None:
    """Add the layer; `scales` or `sizes` are of all source axes."""
    if scales is not None and tuple(scales[:2]) != (1, 1):
        raise NotALayerError("changes batch or channels")
    if sizes is not None and tuple(sizes[:2]) != data.source_shape[:2]:
        raise NotALayerError("changes batch or channels")
    kind = _kind(node)
    layer = Resize(
        name=node.name,
        inputs=(net.channels_last(data.name),),
        outputs=(node.output,),
        kind=kind,
        scales=None if scales is None else (scales[2], scales[3]),
        size=None if sizes is None else (sizes[2], sizes[3]),
        coordinates=coordinates,
        rounding=rounding if kind == "nearest" else "round_prefer_floor",
    )
    net.add(layer, channels_last(4))


TRANSLATORS = {"Resize": resize, "Upsample": upsample}
