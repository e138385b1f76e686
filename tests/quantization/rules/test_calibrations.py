"""The calibrations equal their definitions read value by value, and the page's example."""

from __future__ import annotations

import math
import re
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.pages import ROOT
from hexsim.errors import HexsimError
from hexsim.quantization.encodings import AxisEncoding, Encoding
from hexsim.quantization.observation import Observation
from hexsim.quantization.options import CALIBRATIONS, Calibration, QuantizationOptions
from hexsim.quantization.rules.choice import activation_rule, encode, weight_encoding
from hexsim.quantization.rules.cut_ranges import (
    Enhanced,
    EnhancedSymmetric,
    Entropy,
    MeanSquaredError,
    Percentile,
)
from hexsim.quantization.rules.rule import MinMax, Symmetric, UnsignedCodes, spanning
from tests.thorough import examples

PAGE = ROOT / "docs/concepts/quantisation.md"


def seen_of(values: np.ndarray) -> Observation:
    return Observation.of(values.astype(np.float32), with_histogram=True)


def bins(seen: Observation) -> list[tuple[float, int]]:
    """Lower edge and count of every bin, the empty ones too."""
    assert seen.histogram is not None
    histogram = seen.histogram
    edges = [histogram.low + i * histogram.width for i in range(len(histogram.counts))]
    return list(zip(edges, histogram.counts.tolist(), strict=True))


def example(calibration: Calibration) -> Encoding:
    """That of the page: 0, 0.00001 .. 0.99999, and once 1.3."""
    values = np.append(np.arange(100_000) / 100_000, 1.3).astype(np.float32)
    options = QuantizationOptions(activation_calibration=calibration, percentile=99.9)
    return encode(activation_rule(options), values)


@pytest.mark.parametrize("calibration", CALIBRATIONS)
def test_the_example_of_the_page(calibration: Calibration) -> None:
    row = re.search(rf"\| {calibration}[ \d.]* \| ([\d.]+) \| ([\d.]+) \|", PAGE.read_text("utf-8"))
    assert row is not None
    encoding = example(calibration)
    assert [f"{number:.6g}" for number in (encoding.max, encoding.delta)] == list(row.groups())
    assert encoding.offset == 0


@examples(40)
@given(
    st.lists(st.floats(-8, 8, width=32), min_size=1, max_size=60),
    st.sampled_from(["90", "99", "99.9", "97.3", "100"]),
)
def test_percentiles_count_values(values: list[float], text: str) -> None:
    seen = seen_of(np.array(values))
    share, width = Fraction(text) / 100, 0.0 if seen.histogram is None else seen.histogram.width
    ordered = sorted(np.float32(values).tolist())

    def edge(of: Fraction) -> float:
        at = math.ceil(of * len(values))
        first = math.floor(min(0.0, seen.low) / width) * width
        return math.floor(ordered[at - 1] / width) * width if at else first

    low, high = edge(1 - share), edge(share)
    ends = (max(low, seen.low), min(high if high > low else low + width, seen.high))
    limits = Percentile(percentile=float(text)).ends(seen)
    assert limits == (ends if text != "100" else (seen.low, seen.high))


@pytest.mark.parametrize("symmetric", [False, True])
@pytest.mark.parametrize("bits", [4, 8])
@pytest.mark.parametrize(("low", "high"), [(0.0, 1.0), (-0.01, 1.0), (-1.0, 0.005)])
def test_mse_tries_every_pair_of_edges(low: float, high: float, bits: int, symmetric: bool) -> None:
    rng = np.random.default_rng(bits)
    seen = seen_of(np.append(rng.uniform(low, high, 20), [low, high]))
    used = [(edge, count) for edge, count in bins(seen) if count]
    assert seen.histogram is not None
    width = seen.histogram.width
    edges = [edge for edge, _ in bins(seen)] + [bins(seen)[-1][0] + width]
    clipped = sorted({min(max(edge, min(seen.low, 0)), max(seen.high, 0)) for edge in edges})
    least = math.inf
    for start in [edge for edge in clipped if edge <= 0]:
        for stop in [edge for edge in clipped if edge >= 0]:
            if symmetric and start not in (clipped[0], 0.0) and stop not in (clipped[-1], 0.0):
                continue
            encoding = spanning(start, stop, bits, 0.01, symmetric=symmetric)
            least = min(least, cost(used, width, encoding))
    best = MeanSquaredError(bits, symmetric=symmetric).encode(seen)
    assert best.symmetric is symmetric
    assert cost(used, width, best) == pytest.approx(least, rel=1e-9)


def cost(used: list[tuple[float, int]], width: float, encoding: Encoding) -> float:
    total = 0.0
    for edge, count in used:
        centre = edge + width / 2
        code = math.floor(centre / encoding.delta - encoding.offset + 0.5)
        code = min(max(code, 0), encoding.steps)
        total += count * (centre - encoding.delta * (code + encoding.offset)) ** 2
    return total


def divergence(counts: list[float], start: int, stop: int) -> float:
    """Relative entropy of a window as the module's docstring says, bin by bin."""
    size = stop - start
    p = [counts[i] for i in range(start, stop)]
    p[0], p[-1] = sum(counts[: start + 1]), sum(counts[stop - 1 :])
    q = [0.0] * size
    for part in range(255):
        first, end = -(-part * size // 255), -(-(part + 1) * size // 255)
        inside = counts[start + first : start + end]
        total, uses = sum(inside), sum(1 for count in inside if count)
        for place, count in enumerate(inside, first):
            q[place] = total / uses if count else 0.0

    def share(values: list[float]) -> list[float]:
        empty = values.count(0.0)
        taken = 1e-4 * empty / (size - empty)
        if taken < 1:
            values = [value - taken if value else 1e-4 for value in values]
        total = math.fsum(values)
        return [value / total for value in values]

    pairs = zip(share(p), share(q), strict=True)
    return math.fsum(a * math.log(a / b) for a, b in pairs if a > 0 and b > 0)


def entropy_ends(counts: list[float], zero: int, symmetric: bool) -> tuple[int, int]:
    start, stop, best, least = 0, len(counts), (0, len(counts)), math.inf
    while stop - start >= 255:
        if not any(counts[start:stop]):
            break
        difference = divergence(counts, start, stop)
        if difference < least - 1e-12:
            best, least = (start, stop), difference
        both, low, high = (start + 1, stop - 1), (start + 2, stop), (start, stop - 2)
        lost = [sum(counts[start:a] + counts[b:stop]) for a, b in (both, low, high)]
        chosen = both if symmetric else (both, low, high)[lost.index(min(lost))]
        if not symmetric and chosen[0] > zero:
            chosen = high
        elif not symmetric and chosen[1] < zero:
            chosen = low
        start, stop = chosen
    return best


@pytest.mark.parametrize("symmetric", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_entropy_follows_its_definition(seed: int, symmetric: bool) -> None:
    rng = np.random.default_rng(seed)
    values = rng.standard_t(3, 3000) if seed % 2 else np.maximum(rng.laplace(0.2, 1, 3000), 0)
    seen = seen_of(values)
    assert seen.histogram is not None
    width, first = seen.histogram.width, seen.histogram.first
    counts = [float(count) for count in seen.histogram.counts]
    if symmetric:
        reach = max(-first, first + len(counts))
        counts = [0.0] * (first + reach) + counts + [0.0] * (reach - first - len(counts))
        first = -reach
    start, stop = entropy_ends(counts, -first, symmetric)
    ends = (max(width * (first + start), seen.low), min(width * (first + stop), seen.high))
    assert Entropy(symmetric=symmetric).ends(seen) == ends


def test_entropy_is_for_8_bits() -> None:
    seen = seen_of(np.append(np.random.default_rng(0).normal(0, 1, 2000), 40))
    assert Entropy(16).encode(seen) == MinMax(16).encode(seen)
    assert Entropy(4, symmetric=True).encode(seen) == Symmetric(4).encode(seen)
    assert Entropy(8).encode(seen).max < 20


RULES = (Percentile, MeanSquaredError, Entropy)


@examples(25)
@given(
    st.lists(st.floats(-1e3, 1e3, width=32, allow_subnormal=False), min_size=1, max_size=30),
    st.sampled_from(RULES),
    st.booleans(),
)
def test_zero_is_a_code_and_the_range_no_wider(
    values: list[float], rule: type[Percentile], symmetric: bool
) -> None:
    seen = seen_of(np.array(values))
    encoding = rule(8, symmetric=symmetric).encode(seen)
    assert encoding.fault() is None
    assert encoding.dequantize(encoding.quantize(np.zeros(1))).item() == 0.0
    widest = (Symmetric if symmetric else MinMax)(8).encode(seen)
    assert encoding.delta <= widest.delta * (1 + 1e-12)


WEIGHT = np.random.default_rng(8).standard_t(2, (500, 3)).astype(np.float32)


@pytest.mark.parametrize(
    ("calibration", "plain", "around"),
    [
        ("min-max", MinMax(), Symmetric()),
        ("sqnr", Enhanced(), EnhancedSymmetric()),
        ("mse", MeanSquaredError(), MeanSquaredError(symmetric=True)),
        ("entropy", Entropy(), Entropy(symmetric=True)),
        ("percentile", Percentile(percentile=99), Percentile(symmetric=True, percentile=99)),
    ],
)
def test_options_lead_to_the_rules(
    calibration: Calibration, plain: MinMax, around: Symmetric
) -> None:
    def options(**choices: object) -> QuantizationOptions:
        return QuantizationOptions(percentile=99, **choices)  # type: ignore[arg-type]

    seen = seen_of(WEIGHT)
    assert activation_rule(options(activation_calibration=calibration)) == plain
    symmetric = options(activation_calibration=calibration, activation_schema="symmetric")
    assert activation_rule(symmetric) == UnsignedCodes(around)
    codes = activation_rule(symmetric).encode(seen)
    assert (codes.offset, codes.symmetric, codes.dtype) == (-128, False, np.uint8)
    assert weight_encoding(WEIGHT, options(weight_calibration=calibration)) == plain.encode(seen)
    signed = options(weight_calibration=calibration, symmetric_weights=True)
    assert weight_encoding(WEIGHT, signed) == around.encode(seen)
    channels = weight_encoding(WEIGHT, options(weight_calibration=calibration, axis_weights=True))
    assert isinstance(channels, AxisEncoding)
    assert channels.channels[1] == around.encode(seen_of(WEIGHT[:, 1]))


@pytest.mark.parametrize("sign", [1, -1])
def test_unsigned_symmetric(sign: int) -> None:
    values = sign * np.abs(WEIGHT)
    options = QuantizationOptions(
        activation_schema="unsignedsymmetric", symmetric_weights=True, unsigned_weights=True
    )
    weights, codes = weight_encoding(values, options), encode(activation_rule(options), values)
    assert isinstance(weights, Encoding)
    assert (weights.offset, codes.offset) == ((0, 0) if sign > 0 else (-128, -128))
    assert (weights.symmetric, codes.symmetric) == (sign < 0, False)


@pytest.mark.parametrize(
    ("choices", "sentence"),
    [
        ({"percentile": 89.0}, "percentile"),
        ({"enhanced": "both", "activation_calibration": "mse"}, "the enhanced mode is the calib"),
        ({"enhanced": "weights", "weight_calibration": "mse"}, "the calibration of weights is to"),
        ({"adjusted_weights": True, "weight_calibration": "mse"}, "the adjusted mode widens"),
        ({"adjusted_weights": True, "weight_calibration": "sqnr"}, "not by both"),
        ({"activation_calibration": "best"}, "unknown calibration of activations 'best'"),
        ({"activation_schema": "odd"}, "unknown schema of activations 'odd'"),
        ({"unsigned_weights": True, "axis_weights": True}, "leave unsignedsymmetric out"),
    ],
)
def test_refusals(choices: dict[str, object], sentence: str) -> None:
    with pytest.raises(HexsimError, match=sentence):
        QuantizationOptions(**choices)  # type: ignore[arg-type]
