"""Values given for a tensor of integers or booleans: whole numbers that its type has, or a fault.

Numpy would turn 0.9 into 0, NaN into the smallest integer, and 300 into 44 where bytes are asked
for. Whoever takes values from outside asks here first.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

_SIZES = (8, 16, 32, 64)
WHOLE_TYPES = frozenset(
    ("bool", *(f"{sign}int{size}" for sign in ("", "u") for size in _SIZES)),
)
"""Types whose numbers are whole, by their names in numpy; true and false are 1 and 0."""


def limits(dtype: str) -> tuple[int, int]:
    """The smallest and the largest number of one of `WHOLE_TYPES`."""
    if dtype == "bool":
        return 0, 1
    info = np.iinfo(dtype)
    return int(info.min), int(info.max)


def first_wrong(values: npt.NDArray[np.generic], dtype: str) -> int | None:
    """Position in `values`, row by row, of the first that `dtype` does not have; None without one.

    `values` are numbers or booleans of any shape. A type outside `WHOLE_TYPES` has them all.
    """
    if dtype not in WHOLE_TYPES or values.dtype == dtype or values.dtype == bool:
        return None
    low, high = limits(dtype)
    if values.dtype.kind == "f":
        # As floats both ends are exact: powers of two, or zero. The largest int64 itself is not.
        floats = values.astype(np.float64, copy=False)
        right = (floats >= low) & (floats < high + 1) & (floats == np.rint(floats))
    else:
        right = (values >= low) & (values <= high)  # type: ignore[operator]
    return None if right.all() else int(np.argmin(right))


def fault(values: npt.NDArray[np.generic], dtype: str) -> str | None:
    """Say which of `values` is no number of `dtype`, where it stands and what there may be."""
    at = first_wrong(values, dtype)
    if at is None:
        return None
    index = [int(i) for i in np.unravel_index(at, values.shape)]
    where = f" at index {index}" if index else ""
    return f"{shown(values.reshape(-1)[at])}{where}, but {allowed(dtype)}"


def allowed(dtype: str) -> str:
    """What an input of one of `WHOLE_TYPES` takes."""
    if dtype == "bool":
        return "a bool input takes 0 and 1"
    low, high = limits(dtype)
    article = "an" if dtype.startswith("int") else "a"
    return f"{article} {dtype} input takes whole numbers from {low} to {high}"


def shown(value: np.generic) -> str:
    """A number in a message, in as many digits as tell it from others of its type."""
    return "NaN" if value != value else str(value)
