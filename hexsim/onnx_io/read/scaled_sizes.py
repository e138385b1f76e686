"""Computes the size of an image that is resized by scales, rounded as in onnxruntime.

onnx multiplies in float64, onnxruntime in float32. Ten pixels times 0.7 are six for onnx and seven
for onnxruntime, since the 0.7 in a file is a float32 slightly below 0.7.
"""

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from hexsim.errors import InvalidDataError
from hexsim.graph.ir import Shape
from hexsim.onnx_io.file.node import OnnxNode

_LAST_WITHOUT_REGION = 10
"""Last opset without a region of interest before the scales."""


def scales_of(
    node: OnnxNode, values: Mapping[str, npt.NDArray[np.generic]]
) -> npt.NDArray[np.float32]:
    """Return the scales of all axes if `node` resizes by these alone, else an empty array.

    `values` are the inputs that are known.
    """
    regions = node.text("coordinate_transformation_mode", "") == "tf_crop_and_resize"
    if node.proto.op_type not in ("Resize", "Upsample") or regions or node.integers("axes"):
        return np.empty(0, np.float32)
    early = node.proto.op_type == "Upsample" or node.opset <= _LAST_WITHOUT_REGION
    values_found = values.get(node.input(1 if early else 2), node.reals("scales") or ())
    scales = np.asarray(values_found, np.float32).reshape(-1)
    if not np.isfinite(scales).all():
        raise InvalidDataError(f"scales {scales.tolist()} are not finite")
    return scales


def scaled(shape: Shape, scales: npt.NDArray[np.float32]) -> Shape:
    """Return `shape` times `scales`, rounded down."""
    return tuple(int(size) for size in np.asarray(shape, np.float32) * scales)
