"""Every value is in the bin that it belongs to, for codes as for floats; odd values are told."""

import numpy as np
import numpy.typing as npt
import pytest

from hexsim.graph.ir import Constant, Network
from hexsim.quantization.encodings import AxisEncoding, Encoding
from hexsim.quantization.model import Model
from hexsim.reports.pages.figures.weights import BINS, BinnedValues, histogram

RNG = np.random.default_rng(0)


def counted(values: npt.NDArray[np.generic], encoding: Encoding | AxisEncoding | None = None) -> (
    BinnedValues | None
):  # fmt: skip
    constant = Constant("w", values.shape, values, values.dtype.name)
    network = Network("n", (), {}, {"w": constant}, (), ())
    parameters = {} if encoding is None else {"w": encoding}
    return histogram(Model(network, parameters=parameters, quantized=bool(encoding)), "w")


def naive(values: npt.NDArray[np.generic], binned: BinnedValues) -> list[int]:
    """Counts of each bin, value by value."""
    counts = [0] * len(binned.counts)
    width = (binned.high - binned.low) / len(counts)
    for value in values.ravel().tolist():
        counts[min(int((value - binned.low) / width), len(counts) - 1)] += 1
    return counts


@pytest.mark.parametrize("dtype", ["float32", "float16", "int64", "uint8"])
def test_plain_values(dtype: str) -> None:
    values = (RNG.standard_normal((30, 40)) * 50 + 60).clip(0, 255).astype(dtype)
    binned = counted(values)
    assert binned
    assert (binned.low, binned.high) == (float(values.min()), float(values.max()))
    assert len(binned.counts) == BINS
    assert list(binned.counts) == naive(values, binned)


@pytest.mark.parametrize("bits", [4, 8, 16])
@pytest.mark.parametrize("symmetric", [False, True])
def test_codes(bits: int, symmetric: bool) -> None:
    values = RNG.standard_normal((50, 30)).astype(np.float32)
    made = Encoding.symmetric_of(2.5, bits) if symmetric else Encoding.from_range(-2, 3, bits)
    binned = counted(values, made)
    assert binned
    assert len(binned.counts) == min(BINS, 2**bits)
    assert binned.low < made.min < made.max < binned.high
    assert list(binned.counts) == naive(made.dequantize(made.quantize(values)), binned)


def test_every_bin_holds_equally_many_codes() -> None:
    made = Encoding.from_range(-1, 1)
    every = made.dequantize(np.arange(256, dtype=np.uint8))
    binned = counted(every, made)
    assert binned
    assert set(binned.counts) == {4}


def test_codes_of_a_step_per_channel_are_counted_as_values() -> None:
    values = RNG.standard_normal((20, 2)).astype(np.float32)
    made = AxisEncoding((Encoding.symmetric_of(3), Encoding.symmetric_of(0.5)))
    binned = counted(values, made)
    assert binned
    assert list(binned.counts) == naive(made.dequantize(made.quantize(values)), binned)


def test_what_is_not_finite_is_counted_apart() -> None:
    binned = counted(np.array([1, 2, np.nan, np.inf, -np.inf], np.float32))
    assert binned
    assert (binned.low, binned.high, sum(binned.counts), binned.not_finite) == (1, 2, 2, 3)


@pytest.mark.parametrize(
    ("values", "bins"),
    [
        (np.array([0.0, 1e-45], np.float32), BINS),
        (np.array([1.0, np.nextafter(np.float32(1), np.float32(2))], np.float32), BINS),
        (np.array([0.0, 5e-324]), 1),
        (np.array([1.0, np.nextafter(1.0, 2.0)]), 1),
        (np.array([2**62, 2**62]), 1),
    ],
)
def test_neighbouring_values_are_counted(values: npt.NDArray[np.generic], bins: int) -> None:
    binned = counted(values)
    assert binned
    assert binned.low < binned.high
    assert (len(binned.counts), sum(binned.counts)) == (bins, 2)


def test_equal_values_have_a_bin_of_some_width() -> None:
    binned = counted(np.full(9, 7, np.float32))
    assert binned
    assert binned.low < 7 < binned.high
    assert sum(binned.counts) == 9


@pytest.mark.parametrize(
    "values",
    [np.full(3, np.nan), np.zeros(0), np.array([True, False]), np.array([-1e308, 1e308])],
)
def test_nothing_is_drawn_of_what_has_no_range(values: npt.NDArray[np.generic]) -> None:
    assert counted(values) is None
