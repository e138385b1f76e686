"""Histograms of the values of a constant, as its file stores them.

Quantised values (codes) are counted one by one and then in groups of equal size, so that all bins
have the same number of codes. Floats, and codes with a step per channel, are counted in bins of
equal width from the smallest to the largest value.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from hexsim.quantization.encodings import Encoding
from hexsim.quantization.model import Model

BINS = 64
_AT_ONCE = 1 << 20


@dataclass(frozen=True)
class BinnedValues:
    """Counts in bins of equal width from `low` to `high`; `not_finite` counts the other values."""

    low: float
    high: float
    counts: tuple[int, ...]
    not_finite: int = 0


def histogram(model: Model, name: str) -> BinnedValues | None:
    """Count the values of constant `name`; None if none of them is a finite real number."""
    encoding = model.encoding(name)
    if isinstance(encoding, Encoding):
        return _of_codes(model.codes(name), encoding)
    if encoding is not None:
        return _of_values(encoding.dequantize(model.codes(name)))
    return _of_values(model.stored(name).value())


def _of_codes(codes: npt.NDArray[np.integer], encoding: Encoding) -> BinnedValues:
    lowest = encoding.offset + encoding.zero_point
    codes_count, flat = encoding.steps + 1, codes.ravel()
    counts = np.zeros(codes_count, np.int64)
    for start in range(0, flat.size, _AT_ONCE):
        block = flat[start : start + _AT_ONCE].astype(np.int64) - lowest
        counts += np.bincount(block, minlength=codes_count)
    grouped = counts.reshape(min(BINS, codes_count), -1).sum(axis=1)
    return BinnedValues(
        encoding.delta * (encoding.offset - 0.5),
        encoding.delta * (encoding.offset + encoding.steps + 0.5),
        tuple(grouped.tolist()),
    )


def _of_values(values: npt.NDArray[np.generic]) -> BinnedValues | None:
    if values.dtype.kind not in "fiu" or not values.size:
        return None
    flat = values.ravel()
    if flat.dtype.itemsize < 4:
        flat = flat.astype(np.float32)
    finite = np.isfinite(flat)
    missing = int(flat.size - np.count_nonzero(finite))
    real = flat[finite] if missing else flat
    if not real.size:
        return None
    low, high = float(real.min()), float(real.max())
    if not np.isfinite(high - low):
        return None
    if low == high:
        low, high = low - 0.5, high + 0.5
    if not np.diff(np.linspace(low, high, BINS + 1)).all():  # no numbers for bins between them
        low, high = float(np.nextafter(low, -np.inf)), float(np.nextafter(high, np.inf))
        return BinnedValues(low, high, (real.size,), missing)
    # ends with a type of their own, else numpy takes that of the values for all edges
    counts, _ = np.histogram(real, BINS, (np.float64(low), np.float64(high)))
    return BinnedValues(low, high, tuple(counts.tolist()), missing)
