"""Our encodings beside those AIMET 2.42 gave to the same tensors (recorded by record.py).

AIMET 2.42 keeps every step at 2^-23 or more, where the SNPE guide keeps every range at 0.01 or
more; the rules are given AIMET's floor, so that only the algorithms are compared.
"""

import csv
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from hexsim.quantization.encodings import Encoding
from hexsim.quantization.observation import Observation
from hexsim.quantization.rules.cut_ranges import Enhanced, EnhancedSymmetric
from hexsim.quantization.rules.rule import MinMax, Symmetric
from tests.oracle.aimet.tensors import BITS, tensors

RULES = {
    "default": MinMax,
    "symmetric": Symmetric,
    "strict symmetric": Symmetric,
    "enhanced": Enhanced,
    "enhanced symmetric": EnhancedSymmetric,
}
FLOOR = 2.0**-23
"""Smallest step of AIMET 2.42, in real units."""
ANSWERS = list(
    csv.DictReader((Path(__file__).parent / "encodings.csv").read_text("utf-8").splitlines())
)
TENSORS = tensors()


@dataclass(frozen=True, eq=False)
class Pair:
    """One tensor, our encoding and AIMET's numbers."""

    tensor: str
    values: np.ndarray
    ours: Encoding
    min: float
    max: float
    delta: float
    offset: int

    @property
    def coarser(self) -> float:
        """How much larger our step is, as a fraction of AIMET's."""
        return self.ours.delta / self.delta - 1

    @property
    def error_ratio(self) -> float:
        """Mean squared error of the codes, ours over AIMET's."""
        ours, theirs = (
            np.mean((_rounded(self.values, delta, offset, self.ours.steps) - self.values) ** 2)
            for delta, offset in ((self.ours.delta, self.ours.offset), (self.delta, self.offset))
        )
        return float(ours / theirs) if theirs else 1.0


def _rounded(values: np.ndarray, delta: float, offset: int, steps: int) -> np.ndarray:
    codes = np.clip(np.floor(values.astype(np.float64) / delta - offset + 0.5), 0, steps)
    return delta * (codes + offset)


def pairs(mode: str, bits: int, *, drawn_only: bool = False) -> Iterator[Pair]:
    """All tensors in one mode; `drawn_only` leaves out the corner cases."""
    for row in ANSWERS:
        if (row["mode"], int(row["bits"])) != (mode, bits):
            continue
        if drawn_only and " " not in row["tensor"]:
            continue
        codes = (1 << bits) - 1
        span = codes // 2 if mode.endswith("symmetric") else codes
        rule = RULES[mode](bits, FLOOR * span)
        values = TENSORS[row["tensor"]]
        ours = rule.encode(Observation.of(values, with_histogram=rule.needs_histogram))
        low, high, delta = (float(row[key]) for key in ("min", "max", "delta"))
        yield Pair(row["tensor"], values, ours, low, high, delta, int(row["offset"]))


def test_the_tensors_are_those_that_were_recorded() -> None:
    ends = {row["tensor"]: (float(row["low"]), float(row["high"])) for row in ANSWERS}
    assert list(ends) == list(TENSORS)
    for name, values in TENSORS.items():
        assert ends[name] == pytest.approx((values.min(), values.max()), rel=1e-7)
    assert {(row["mode"], int(row["bits"])) for row in ANSWERS} == {
        (mode, bits) for mode, widths in BITS.items() for bits in widths
    }


@pytest.mark.parametrize("bits", BITS["default"])
def test_default_encodings_are_equal(bits: int) -> None:
    for pair in pairs("default", bits):
        assert pair.ours.offset == pair.offset, pair.tensor
        assert pair.ours.delta == pytest.approx(pair.delta, rel=1e-8), pair.tensor
        ends = (pair.ours.min, pair.ours.max)
        assert ends == pytest.approx((pair.min, pair.max), rel=1e-8, abs=pair.delta / 1000)


def test_symmetric_steps_are_those_of_the_strict_rule() -> None:
    """The largest magnitude over 127, whatever its sign."""
    for pair in pairs("strict symmetric", 8):
        assert pair.ours.delta == pytest.approx(pair.delta, rel=1e-8), pair.tensor


@pytest.mark.parametrize("bits", BITS["symmetric"])
def test_symmetric_encodings_differ_where_the_largest_magnitude_is_negative(bits: int) -> None:
    half = (1 << (bits - 1)) - 1
    negative = 0
    for pair in pairs("symmetric", bits):
        assert pair.ours.offset == pair.offset, pair.tensor
        low, high = -float(pair.values.min()), float(pair.values.max())
        theirs = max(low / (half + 1), high / half, FLOOR)
        assert pair.delta == pytest.approx(theirs, rel=1e-7), pair.tensor
        if low <= high and high > FLOOR * half:
            assert pair.ours.delta == pytest.approx(pair.delta, rel=1e-8), pair.tensor
        elif high > FLOOR * half:
            assert 0 < pair.coarser < 1.001 / half, pair.tensor
            negative += 1
    assert negative > 10


@pytest.mark.parametrize(
    ("mode", "bits", "step", "offset", "error"),
    [
        ("enhanced", 4, 0.06, 0, 1.10),
        ("enhanced", 8, 0.005, 1, 1.05),
        ("enhanced symmetric", 4, 0.08, 0, 1.05),
        ("enhanced symmetric", 8, 0.03, 0, 1.15),
    ],
)
def test_enhanced_encodings_are_close(
    mode: str, bits: int, step: float, offset: int, error: float
) -> None:
    """Histograms differ (bins of powers of two here), so near ties can fall the other way."""
    compared = list(pairs(mode, bits, drawn_only=True))
    assert len(compared) == 45
    assert max(abs(pair.coarser) for pair in compared) <= step
    assert max(abs(pair.ours.offset - pair.offset) for pair in compared) <= offset
    assert max(pair.error_ratio for pair in compared) <= error
    assert np.median([pair.error_ratio for pair in compared]) <= 1.005
