"""Weights as figures: how often their values occur, beside the range of their encoding.

Quantised values (codes) are counted one by one and then in groups of equal size, so that all bins
have the same number of codes. Floats, and codes with a step per channel, are counted in bins of
equal width from the smallest to the largest value.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from hexsim.quantization.encodings import AxisEncoding, Encoding
from hexsim.quantization.model import Model
from hexsim.records import dataclass
from hexsim.reports.colours import MAIN
from hexsim.reports.pages.figures.chart import Chart, Figure, FigureTable

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


MOST = 200
"""The most weights of a page, the largest of the network."""
_FEWEST = 9
"""The least number of elements of a constant that is counted."""


def histograms_figure(model: Model) -> Figure | None:
    """Return the histograms of the largest weights; None if there are none."""
    constants = model.network.constants
    weights = [constants[name] for name in constants if name in model.network.weights]
    largest = sorted(weights, key=lambda weight: -weight.elements)[:MOST]
    large = {weight.name for weight in largest if weight.elements >= _FEWEST}
    names = [weight.name for weight in weights if weight.name in large]
    binned = {name: bins for name in names if (bins := histogram(model, name)) is not None}
    if not binned:
        return None
    choices = {name: _columns(bins) for name, bins in binned.items()}
    tooltip = (("values", "{left} to {right}"), ("", "{top}"))
    plot = Chart("value", "how many", tooltip=tooltip, y=(0.0, None))
    plot.draw("rects", bottom=0.0, colour=MAIN, **next(iter(choices.values())))
    return Figure(
        "Weights",
        "How often the values of a constant occur as its file holds them; choose one. The table "
        f"has the ranges of the encodings. At most the {MOST} largest constants are counted.",
        FigureTable(
            ("constant", "smallest", "largest", "encoding from", "to", "bits", "encodings"),
            [(name, bins.low, bins.high, *_range(model, name)) for name, bins in binned.items()],
        ),
        plot,
        choices=choices,
    )


def _columns(bins: BinnedValues) -> dict[str, list[Any]]:
    width = (bins.high - bins.low) / len(bins.counts)
    edges = [bins.low + width * number for number in range(len(bins.counts) + 1)]
    return {"left": edges[:-1], "right": edges[1:], "top": list(bins.counts)}


def _range(model: Model, name: str) -> tuple[Any, ...]:
    encoding = model.encoding(name)
    if isinstance(encoding, Encoding):
        return encoding.min, encoding.max, encoding.bitwidth, 1
    if isinstance(encoding, AxisEncoding):
        channels = encoding.channels
        low, high = min(c.min for c in channels), max(c.max for c in channels)
        return low, high, channels[0].bitwidth, len(channels)
    return None, None, None, 0
