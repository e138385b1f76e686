"""How large an image becomes that is resized by scales: as onnxruntime rounds, which makes it.

onnx multiplies in double precision, onnxruntime in single. Ten pixels by 0.7 are six to the one and
seven to the other, since the 0.7 of a file is a single a little below 0.7.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from hexsim.errors import InvalidDataError
from hexsim.graph.ir import Shape
from hexsim.onnx_io.file.node import OnnxNode

_LAST_WITHOUT_REGION = 10
"""Opset; later ones have a region of interest before the scales."""


def scales_of(
    node: OnnxNode, values: Mapping[str, npt.NDArray[np.generic]]
) -> npt.NDArray[np.float32]:
    """The scales of all axes, by which alone `node` resizes; empty if it does not.

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
