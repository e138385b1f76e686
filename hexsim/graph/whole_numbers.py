"""Checks values from outside for tensors of integers or booleans.

Numpy would convert 0.9 to 0, NaN to the smallest integer, and 300 to 44 for bytes. So values are
checked here before they are converted.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

_SIZES = (8, 16, 32, 64)
WHOLE_TYPES = frozenset(("bool", *(f"{sign}int{size}" for sign in ("", "u") for size in _SIZES)))
"""Types of whole numbers, by their names in numpy; true and false are 1 and 0."""


def limits(dtype: str) -> tuple[int, int]:
    """Return the smallest and the largest number of one of `WHOLE_TYPES`."""
    if dtype == "bool":
        return 0, 1
    info = np.iinfo(dtype)
    return int(info.min), int(info.max)


def first_wrong(values: npt.NDArray[Any], dtype: str) -> int | None:
    """Return the flat index of the first value that `dtype` lacks; None if there is none.

    `values` are numbers or booleans of any shape. A type outside `WHOLE_TYPES` accepts all.
    """
    if dtype not in WHOLE_TYPES or values.dtype == dtype or values.dtype == bool:
        return None
    low, high = limits(dtype)
    if values.dtype.kind == "f":
        # As floats both ends are exact: powers of two, or zero. The largest int64 itself is not.
        floats = values.astype(np.float64, copy=False)
        valid = (floats >= low) & (floats < high + 1) & (floats == np.rint(floats))
    else:
        valid = (values >= low) & (values <= high)
    return None if valid.all() else int(np.argmin(valid))


def fault(values: npt.NDArray[np.generic], dtype: str) -> str | None:
    """Return which of `values` is invalid for `dtype`, its index and the valid range, or None."""
    position = first_wrong(values, dtype)
    if position is None:
        return None
    index = [int(axis_index) for axis_index in np.unravel_index(position, values.shape)]
    where = f" at index {index}" if index else ""
    return f"{number_text(values.reshape(-1)[position])}{where}, but {allowed(dtype)}"


def allowed(dtype: str) -> str:
    """Return a clause on the valid values of an input of one of `WHOLE_TYPES`."""
    if dtype == "bool":
        return "a bool input takes 0 and 1"
    low, high = limits(dtype)
    article = "an" if dtype.startswith("int") else "a"
    return f"{article} {dtype} input takes whole numbers from {low} to {high}"


def number_text(value: np.generic) -> str:
    """Return a number for a message, with all digits that distinguish it in its type."""
    return "NaN" if value != value else str(value)
