"""Single steps of the contract against the vector instructions themselves."""

import numpy as np
import pytest

from hexsim.lowering import Requantize
from tests.int8 import naive
from tests.int8.test_requantize import requantize_all
from tests.oracle.int8 import golden, primitives, qemu
from tests.oracle.int8.primitives import Step

VERSIONS = pytest.mark.parametrize("version", qemu.VERSIONS)
LIMITS = (17, 240)


@pytest.fixture
def rng():
    return np.random.RandomState(7)


def saturated(x):
    return np.clip(x, -(2**31), 2**31 - 1)


@pytest.mark.toolchain
@VERSIONS
def test_fractional_multiply_rounds_the_exact_product(rng, version):
    """vmpye, vmpyo:<<1:rnd:sat is (x * m + 2^30) >> 31 for every pair of signs and at the ends."""
    edges = primitives.edges(rng, 200)
    x, m = (part.reshape(-1) for part in np.meshgrid(edges, edges))
    random = rng.randint(-(2**31), 2**31, (2, 100_000), np.int64).astype(np.int32)
    x, m = np.concatenate([x, random[0]]), np.concatenate([m, random[1]])
    exact = saturated((x.astype(np.int64) * m + 2**30) >> 31)
    answer = primitives.ask(Step.SCALE, version, primitives.words(x), primitives.words(m))
    np.testing.assert_array_equal(answer.reshape(-1)[: len(x)], exact)
    ends = (x == -(2**31)) & (m == 2**31 - 1)
    assert set(answer.reshape(-1)[: len(x)][ends]) == {-(2**31) + 1}


@pytest.mark.toolchain
@VERSIONS
def test_shift_left_saturates(rng, version):
    x, s = np.meshgrid(primitives.edges(rng, 300), np.arange(32))
    x, s = x.reshape(-1), s.reshape(-1)
    answer = primitives.ask(Step.SHIFT_LEFT, version, primitives.words(x), primitives.words(s))
    np.testing.assert_array_equal(
        answer.reshape(-1)[: len(x)], saturated(x.astype(np.int64) << s.astype(np.int64))
    )


@pytest.mark.toolchain
@VERSIONS
@pytest.mark.parametrize("step", [Step.DOT_UB_RUB, Step.DOT_UB_UB, Step.DOT_UB_B])
def test_dots_wrap(rng, version, step):
    rows = 400
    a = rng.randint(0, 256, (rows, 128)).astype(np.uint8)
    b = rng.randint(0, 256, (rows, 128)).astype(np.uint8)
    sums = rng.randint(-(2**31), 2**31, (rows, 32), np.int64).astype(np.int32)
    a[:100], b[:50], b[50:100] = 255, 255, 128
    sums[:100] = rng.choice([2**31 - 1, -(2**31), 0], (100, 32))
    second = b.view(np.int8) if step is Step.DOT_UB_B else b
    if step is Step.DOT_UB_RUB:
        second = np.tile(b[:, :4], 32)
    products = a.astype(np.int64) * second
    expected = naive.wrap(products.reshape(rows, 32, 4).sum(axis=2) + sums)
    np.testing.assert_array_equal(primitives.ask(step, version, a, b, sums), expected)


@pytest.mark.toolchain
@VERSIONS
def test_halfword_products_accumulate(rng, version):
    """The sum at a common scale: factors and distances are 16 bit, what they add to wraps."""
    a = rng.randint(-(2**15), 2**15, (300, 64)).astype(np.int16)
    b = rng.choice([-(2**14), 2**14, -1, 0, 9000, 32767, -32768], (300, 64)).astype(np.int16)
    sums = rng.randint(-(2**31), 2**31, (300, 32), np.int64).astype(np.int32)
    answer = primitives.ask(Step.MULTIPLY_HALVES, version, a, b, sums).reshape(300, 2, 32)
    products = (a.astype(np.int64) * b).reshape(300, 32, 2).transpose(0, 2, 1)
    np.testing.assert_array_equal(answer, naive.wrap(products + sums[:, None]))


@pytest.mark.toolchain
@VERSIONS
@pytest.mark.parametrize(("low", "high"), [(0, 255), LIMITS])
def test_tail_equals_contract(version, low, high):
    cases = primitives.tail_cases()
    answer = primitives.codes(version, *cases, low, high)
    np.testing.assert_array_equal(answer, naive.requantize(*cases, low, high))


@pytest.mark.parametrize("limits", [(0, 255), LIMITS])
def test_tails_equal_committed_answers(limits):
    """All that requantise: the method of the constants, the stage of kernels, the reference."""
    accumulator, multiplier, shift = map(np.ascontiguousarray, primitives.tail_cases())
    with np.load(golden.path("tail")) as answers:
        expected = np.clip(answers["codes"], *limits)
    stage = Requantize(np.zeros_like(accumulator), multiplier, shift, *limits)
    np.testing.assert_array_equal(stage.apply(accumulator.astype(np.int64)), expected)
    out = np.empty(accumulator.size, np.uint8)
    requantize_all(accumulator, multiplier, shift, *limits, out)
    np.testing.assert_array_equal(out, expected)
    np.testing.assert_array_equal(
        naive.requantize(accumulator, multiplier, shift, *limits), expected
    )
