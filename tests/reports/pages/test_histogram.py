"""Every value is in the bin that it belongs to, for codes as for floats; odd values are told."""

import numpy as np
import numpy.typing as npt
import pytest

from hexsim.graph.ir import Constant, Network
from hexsim.quantization.encodings import AxisEncoding, Encoding
from hexsim.quantization.model import Model
from hexsim.reports.pages.histogram import BINS, BinnedValues, histogram

RNG = np.random.default_rng(0)


def counted(values: npt.NDArray[np.generic], encoding: Encoding | AxisEncoding | None = None) -> (
    BinnedValues | None
):  # fmt: skip
    constant = Constant("w", values.shape, values, values.dtype.name)
    network = Network("n", (), {}, {"w": constant}, (), ())
    parameters = {} if encoding is None else {"w": encoding}
    return histogram(Model(network, parameters=parameters, quantized=bool(encoding)), "w")


def naive(values: npt.NDArray[np.generic], found: BinnedValues) -> list[int]:
    """Counts of each bin, value by value."""
    counts = [0] * len(found.counts)
    width = (found.high - found.low) / len(counts)
    for value in values.ravel().tolist():
        counts[min(int((value - found.low) / width), len(counts) - 1)] += 1
    return counts


@pytest.mark.parametrize("dtype", ["float32", "float16", "int64", "uint8"])
def test_plain_values(dtype: str) -> None:
    values = (RNG.standard_normal((30, 40)) * 50 + 60).clip(0, 255).astype(dtype)
    found = counted(values)
    assert found
    assert (found.low, found.high) == (float(values.min()), float(values.max()))
    assert len(found.counts) == BINS
    assert list(found.counts) == naive(values, found)


@pytest.mark.parametrize("bits", [4, 8, 16])
@pytest.mark.parametrize("symmetric", [False, True])
def test_codes(bits: int, symmetric: bool) -> None:
    values = RNG.standard_normal((50, 30)).astype(np.float32)
    made = Encoding.symmetric_of(2.5, bits) if symmetric else Encoding.from_range(-2, 3, bits)
    found = counted(values, made)
    assert found
    assert len(found.counts) == min(BINS, 2**bits)
    assert found.low < made.min < made.max < found.high
    assert list(found.counts) == naive(made.dequantize(made.quantize(values)), found)


def test_every_bin_holds_equally_many_codes() -> None:
    made = Encoding.from_range(-1, 1)
    every = made.dequantize(np.arange(256, dtype=np.uint8))
    found = counted(every, made)
    assert found
    assert set(found.counts) == {4}


def test_codes_of_a_step_per_channel_are_counted_as_values() -> None:
    values = RNG.standard_normal((20, 2)).astype(np.float32)
    made = AxisEncoding((Encoding.symmetric_of(3), Encoding.symmetric_of(0.5)))
    found = counted(values, made)
    assert found
    assert list(found.counts) == naive(made.dequantize(made.quantize(values)), found)


def test_what_is_not_finite_is_counted_apart() -> None:
    found = counted(np.array([1, 2, np.nan, np.inf, -np.inf], np.float32))
    assert found
    assert (found.low, found.high, sum(found.counts), found.not_finite) == (1, 2, 2, 3)


def test_equal_values_have_a_bin_of_some_width() -> None:
    found = counted(np.full(9, 7, np.float32))
    assert found
    assert found.low < 7 < found.high
    assert sum(found.counts) == 9


@pytest.mark.parametrize(
    "values",
    [np.full(3, np.nan), np.zeros(0), np.array([True, False]), np.array([-1e308, 1e308])],
)
def test_nothing_is_drawn_of_what_has_no_range(values: npt.NDArray[np.generic]) -> None:
    assert counted(values) is None
