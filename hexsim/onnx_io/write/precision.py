"""How closely a written graph follows the float arithmetic of a runtime."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np

from hexsim.threads.cores import spread

if TYPE_CHECKING:
    from hexsim.onnx_io.file.known import Array

Precision = Literal["float32", "half_results", "half_storage", "float16"]
"""float32: nothing is rounded. half_results: inputs and the output of every layer are rounded to
half, weights are taken as they are. half_storage: inputs, weights and the output of every layer are
rounded to half, each layer computes in single. float16: besides, the result of every operator
inside a layer is rounded (a bias is added to a sum that was rounded already)."""

_BLOCK = 1 << 15
"""Elements whose halves are in the cache at once."""


def rounded(array: Array, precision: Precision) -> Array:
    """Return weights as `precision` stores them; what half cannot hold becomes infinite."""
    return as_float16(array) if rounds_weights(precision, array) else array


def rounds_weights(precision: Precision, array: Array) -> bool:
    """True if `precision` stores such weights as halves."""
    return precision in ("half_storage", "float16") and array.dtype == np.float32


def as_float16(array: Array) -> Array:
    """Return the halves nearest to `array`, as float32."""
    flat = array.reshape(-1)
    result = np.empty_like(flat, np.float32)

    def nearest(part: slice) -> None:
        with np.errstate(over="ignore"):
            result[part] = flat[part].astype(np.float16)

    spread(nearest, flat.size, _BLOCK)
    return result.reshape(array.shape)
