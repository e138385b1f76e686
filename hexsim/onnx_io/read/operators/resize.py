"""Resize and its predecessor Upsample: nearest or bilinear interpolation of images."""

import math
from collections.abc import Sequence
from typing import Literal, TypeVar, get_args

import numpy as np
import numpy.typing as npt

from hexsim.errors import InvalidDataError
from hexsim.graph.ir import Shape, Tensor
from hexsim.layers import Resize
from hexsim.layers.images import AspectPolicy, CoordinateMode, NearestMode
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
_SYMMETRIC = "half_pixel_symmetric"
"""Half pixels around the middle of the image: other positions only where a part is cut off."""
_FIRST_WITH_COORDINATES = 11
_RANKS = (3, 4, 5)
"""Numbers of axes that QNN's Resize takes (microsoft/onnxruntime, pull request 20292)."""
_POLICIES: dict[str, AspectPolicy] = {policy: policy for policy in get_args(AspectPolicy)}


def upsample(node: OnnxNode, net: Importer) -> None:
    """Upsample, and Resize of opset 10: a pixel is read at position / scale, rounded down.

    Shrinking by the nearest pixel is not supported: onnxruntime rounds up, which ONNX does not say.
    """
    data = net.tensor(node.input(0), rank=4)
    scales = _scales(node, net, 1)
    if _kind(node) == "nearest" and min(scales) < 1:
        raise NotALayerError("shrinks without a stated rounding")
    layer = _layer(node, net, data, scales, None).replace(coordinates="asymmetric")
    if layer.kind == "nearest":
        layer = layer.replace(rounding="floor")
    net.add(layer, channels_last(4))


def resize(node: OnnxNode, net: Importer) -> None:
    """Resize by scales or to sizes, of height and width, in the modes of onnx opset 11."""
    if node.opset < _FIRST_WITH_COORDINATES:
        upsample(node, net)
        return
    data = net.tensor(node.input(0), rank=4)
    coordinates = node.text("coordinate_transformation_mode", "half_pixel")
    rounding = node.text("nearest_mode", "round_prefer_floor")
    if coordinates not in (*_COORDINATES, _SYMMETRIC) or rounding not in _ROUNDINGS:
        raise NotALayerError(f"coordinates '{coordinates}', rounding '{rounding}'")
    if node.integer("antialias", 0):
        raise NotALayerError("antialiases")
    policy = node.text("keep_aspect_ratio_policy", "stretch")
    sizes = net.integers(node, "sizes", 3)
    scales = None
    if not sizes:
        scales, policy = _scales(node, net, 2), "stretch"
    else:
        axes = {positive_axis(axis, 4) for axis in node.integers("axes") or range(4)}
        if policy not in _POLICIES or (policy != "stretch" and axes != {2, 3}):
            raise NotALayerError(f"policy '{policy}' of other axes than height and width")
        sizes = _of_all_axes(node, sizes, data.source_shape)
    layer = _layer(node, net, data, scales, sizes or None)
    layer = layer.replace(aspect=_POLICIES[policy])
    if coordinates == _SYMMETRIC:
        if not _is_whole(layer, data):
            raise NotALayerError(f"coordinates '{coordinates}' at scales that give no whole sizes")
        coordinates = "half_pixel"
    layer = layer.replace(coordinates=_COORDINATES[coordinates])
    if layer.kind == "nearest":
        layer = layer.replace(rounding=_ROUNDINGS[rounding])
    net.add(layer, channels_last(4))


def _is_whole(layer: Resize, data: Tensor) -> bool:
    """Tell whether the scales of a layer give whole sizes, so that nothing is cut off."""
    if layer.scales is None:
        return layer.aspect == "stretch"
    return _are_whole(data.source_shape[2:], layer.scales)


def form_of(node: OnnxNode, net: Importer, after: Shape) -> str:
    """Return what the table of a release calls a Resize that is no layer, with the shape `after`.

    It is the mode, or else the first option that QNN does not have, which derives all scales from
    the sizes (onnxruntime-qnn, pull request 53).
    """
    before = net.source_shape(node.input(0))
    coordinates = node.text("coordinate_transformation_mode", "half_pixel")
    if node.opset < _FIRST_WITH_COORDINATES:
        return "without coordinates"
    if coordinates not in _COORDINATES:
        return coordinates
    if node.integer("antialias", 0):
        return "antialias"
    if len(before) not in _RANKS or before[:2] != after[:2]:
        return "other axes"
    return node.text("mode", "nearest") if _has_whole_sizes(node, net, before) else "scales"


def _has_whole_sizes(node: OnnxNode, net: Importer, shape: Shape) -> bool:
    """Tell whether the scales of a node follow from the sizes before and after it."""
    if node.input(3):
        return node.text("keep_aspect_ratio_policy", "stretch") == "stretch"
    if node.input(2) not in net.known:
        return False
    scales = net.known[node.input(2)].read().reshape(-1)
    sizes = [shape[axis] for axis in node.integers("axes") or range(len(shape))]
    return _are_whole(sizes, scales)


def _are_whole(sizes: Sequence[int], scales: npt.ArrayLike) -> bool:
    products = np.multiply(sizes, scales, dtype=np.float32)
    return bool((products == np.floor(products)).all())


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


def _layer(
    node: OnnxNode,
    net: Importer,
    data: Tensor,
    scales: Sequence[float] | None,
    sizes: Sequence[int] | None,
) -> Resize:
    if scales is not None and tuple(scales[:2]) != (1, 1):
        raise NotALayerError("changes batch or channels")
    if sizes is not None and tuple(sizes[:2]) != data.source_shape[:2]:
        raise NotALayerError("changes batch or channels")
    return Resize(
        *node.ends(net.channels_last(data.name)),
        kind=_kind(node),
        scales=None if scales is None else (scales[2], scales[3]),
        size=None if sizes is None else (sizes[2], sizes[3]),
    )


TRANSLATORS = {"Resize": resize, "Upsample": upsample}
