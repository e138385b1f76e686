"""Convert RGB bytes to the encodings from which a network may convert.

NV21 uses the inverse of the matrix of `hexsim.layers.images` (BT.601, luma 16 to 235);
the chroma of 2x2 pixels is their mean.
"""

import numpy as np
import numpy.typing as npt

from hexsim.graph.input_format import InputEncoding
from hexsim.graph.ir import FloatArray
from hexsim.layers.images import YVU_ORIGIN, YVU_TO_BGR

Bytes = npt.NDArray[np.uint8]


def encoded(rgb: Bytes, encoding: InputEncoding) -> FloatArray:
    """Return the stored input, float32 bytes, for pixels (height, width, 3), red first."""
    opaque = np.full((*rgb.shape[:2], 1), 255, np.uint8)
    match encoding:
        case "rgba":
            rgb = np.concatenate([rgb, opaque], axis=2)
        case "argb32":
            rgb = np.concatenate([rgb[..., ::-1], opaque], axis=2)
        case "nv21":
            return _nv21(rgb)
    return rgb.astype(np.float32)


def _nv21(rgb: Bytes) -> FloatArray:
    height, width, _ = rgb.shape
    yvu = rgb[..., ::-1] @ np.linalg.inv(np.array(YVU_TO_BGR)) + np.array(YVU_ORIGIN)
    blocks = yvu[..., 1:].reshape(height // 2, 2, width // 2, 2, 2).mean(axis=(1, 3))
    plane = np.concatenate([yvu[..., 0], blocks.reshape(height // 2, width)])
    stored: FloatArray = np.clip(np.rint(plane), 0, 255).astype(np.float32)[..., np.newaxis]
    return stored
