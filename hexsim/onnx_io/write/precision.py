"""Precisions: which values a written graph rounds to float16."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np

from hexsim.threads import spread

if TYPE_CHECKING:
    from hexsim.onnx_io.file.known import Array

Precision = Literal["float32", "half_results", "half_storage", "float16"]
"""float32: nothing is rounded. half_results: inputs and the output of every layer are rounded to
float16, weights are not. half_storage: inputs, weights and the output of every layer are rounded
to float16, each layer computes in float32. float16: as half_storage, and the result of every
operator inside a layer is rounded (a bias is added to a sum that was rounded already)."""

_BLOCK = 1 << 15
"""Elements that are rounded at a time, so that they fit into the cache."""


def rounded(array: Array, precision: Precision) -> Array:
    """Return weights as `precision` stores them; numbers too large for float16 become infinite."""
    return as_float16(array) if rounds_weights(precision, array) else array


def rounds_weights(precision: Precision, array: Array) -> bool:
    """True if `precision` stores these weights as float16."""
    return precision in ("half_storage", "float16") and array.dtype == np.float32


def as_float16(array: Array) -> Array:
    """Return the float16 numbers nearest to `array`, as float32."""
    flat = array.reshape(-1)
    result = np.empty_like(flat, np.float32)

    def nearest(part: slice) -> None:
        with np.errstate(over="ignore"):
            result[part] = flat[part].astype(np.float16)

    spread(nearest, flat.size, _BLOCK)
    return result.reshape(array.shape)
