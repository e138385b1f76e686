"""The search equals a slow reference, keeps zero and the minimum range, gains where it should."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hexsim.quantization.encodings import Encoding
from hexsim.quantization.observation import Observation
from hexsim.quantization.rules.cut_ranges import Enhanced, EnhancedSymmetric, costs
from hexsim.quantization.rules.rule import MinMax, Symmetric
from tests.quantization.rules import naive
from tests.thorough import examples


def _long_tailed(seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    scale = 10.0 ** rng.uniform(-3, 3)
    tail = rng.standard_t(2, 60) if seed % 2 else np.maximum(rng.laplace(0.3, 1, 60), 0)
    return (tail * scale).astype(np.float32)


def _bins(seen: Observation) -> list[tuple[float, int]]:
    assert seen.histogram is not None
    centres, counts = seen.histogram.occupied()
    return list(zip(centres.tolist(), counts.tolist(), strict=True))


def _cost(seen: Observation, encoding: Encoding) -> float:
    assert seen.histogram is not None
    return float(costs(seen.histogram, [encoding])[0])


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("bits", [4, 8])
def test_equals_the_slow_reference(seed: int, bits: int) -> None:
    seen = Observation.of(_long_tailed(seed), with_histogram=True)
    lowest, default = naive.asymmetric(_bins(seen), seen.low, seen.high, bits, 0.01)
    assert _cost(seen, Enhanced(bits).encode(seen)) == pytest.approx(lowest, rel=1e-9)
    assert _cost(seen, MinMax(bits).encode(seen)) == pytest.approx(default, rel=1e-9)
    limit = Symmetric(bits).limit(seen)
    lowest, default = naive.symmetric(_bins(seen), limit, bits, 0.01)
    assert _cost(seen, EnhancedSymmetric(bits).encode(seen)) == pytest.approx(lowest, rel=1e-9)
    assert _cost(seen, Symmetric(bits).encode(seen)) == pytest.approx(default, rel=1e-9)


@examples(30)
@given(
    st.lists(st.floats(-1e3, 1e3, width=32, allow_subnormal=False), min_size=1, max_size=30),
    st.sampled_from([4, 8]),
)
def test_never_worse_than_the_default_by_its_own_cost(values: list[float], bits: int) -> None:
    seen = Observation.of(np.array(values, np.float32), with_histogram=True)
    for search, plain in ((Enhanced, MinMax), (EnhancedSymmetric, Symmetric)):
        encoding = search(bits).encode(seen)
        assert _cost(seen, encoding) <= _cost(seen, plain(bits).encode(seen))
        assert encoding.dequantize(encoding.quantize(np.zeros(1))).item() == 0.0
        assert encoding.max - encoding.min >= 0.01 * (1 - 1e-9)
        assert encoding.symmetric == (search is EnhancedSymmetric)


def test_one_outlier_among_many_values_is_cut_off() -> None:
    values = np.append(np.random.default_rng(1).normal(0, 1, 20000), 40.0).astype(np.float32)
    seen = Observation.of(values, with_histogram=True)
    for search, plain in ((Enhanced, MinMax), (EnhancedSymmetric, Symmetric)):
        encoding, default = search(4).encode(seen), plain(4).encode(seen)
        assert encoding.max < 20.0 < default.max
        errors = [
            np.sum((e.dequantize(e.quantize(values)) - values) ** 2) for e in (encoding, default)
        ]
        assert errors[0] < 0.7 * errors[1]


def test_values_on_the_default_codes_keep_the_default_encoding() -> None:
    uniform = np.linspace(-1, 1.5, 4096, dtype=np.float32)
    seen = Observation.of(uniform, with_histogram=True)
    assert Enhanced().encode(seen) == MinMax().encode(seen)


def test_all_zeros_keep_the_default_encoding() -> None:
    seen = Observation.of(np.zeros(5, np.float32), with_histogram=True)
    assert Enhanced().encode(seen) == Encoding.from_range(0.0, 0.0)
