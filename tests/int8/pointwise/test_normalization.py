import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hexsim.layers import RELU, Normalization, Softmax
from hexsim.lowering.normalization import (
    FRACTION_BITS,
    LoweredByteSoftmax,
    LoweredNormalization,
    LoweredSoftmax,
    softmax_tables,
)
from tests.int8.drawn import BITS, CODES, SEEDS, arrays, assert_equals_reference, operands, stages
from tests.int8.single_layer import assert_within, run_layer
from tests.thorough import examples

KINDS = st.sampled_from(["deviation", "mean_square", "length"])


@given(st.data())
@examples(150)
def test_equals_reference(data):
    shape = tuple(data.draw(st.lists(st.integers(1, 7), min_size=1, max_size=4)))
    axes = data.draw(st.sets(st.integers(0, len(shape) - 1), min_size=1))
    bits = data.draw(BITS)
    spread = tuple(data.draw(st.sampled_from([1, size])) for size in shape)
    random = np.random.default_rng(data.draw(SEEDS))
    entries = int(np.prod(spread))
    stage = data.draw(stages(1, bits, FRACTION_BITS))
    preload = random.integers(-(2**40), 2**40, entries)
    call = LoweredNormalization(
        layer="norm",
        inputs=(data.draw(operands(shape, bits=bits)),),
        output=data.draw(operands(shape, "y", bits)),
        kind=data.draw(KINDS),
        axes=tuple(axes),
        cut=data.draw(st.integers(0, 8)),
        more=data.draw(st.sampled_from([0, 1, 5, 30])),
        epsilon=data.draw(st.sampled_from([0, 1, 10**6, 2**61])),
        normal_bits=data.draw(st.integers(0, 30)),
        spread=spread,
        factors=random.integers(-32767, 32767, entries, np.int16, endpoint=True),
        stage=type(stage)(preload, *(getattr(stage, n) for n in _CONSTANTS)),
    )
    assert_equals_reference(call, [data.draw(arrays(shape, CODES[bits]))])


_CONSTANTS = ("multiplier", "shift", "low", "high", "fraction_bits")


@pytest.mark.parametrize("kind", ["deviation", "mean_square", "length"])
@pytest.mark.parametrize("axes", [(3,), (1, 2)])
@pytest.mark.parametrize("bits", [8, 16])
def test_close_to_float(kind, axes, bits):
    rng = np.random.default_rng(12)
    x = rng.normal(1, 2, size=(2, 9, 8, 40)).astype(np.float32)
    constants = {"s": rng.normal(size=40), "t": rng.normal(size=40)}
    constants = {name: array.astype(np.float32) for name, array in constants.items()}
    layer = Normalization(
        name="n", inputs=("x",), outputs=("y",), kind=kind, axes=axes, epsilon=0.01,
        scale="s", shift="t", clamp=RELU,
    )  # fmt: skip
    result, seen, step = run_layer(layer, {"x": x}, (0, 12), constants, bits=bits)
    x = seen["x"]
    if kind == "deviation":
        x = x - x.mean(axes, keepdims=True)
    square = (x * x).sum(axes, keepdims=True)
    square = square if kind == "length" else square / np.prod([x.shape[a] for a in axes])
    expected = x / np.sqrt(square + 0.01) * constants["s"] + constants["t"]
    assert_within(result, np.maximum(expected, 0), step, steps=0.51 if bits == 8 else 2)


def test_equal_elements_have_no_deviation():
    layer = Normalization(
        name="n", inputs=("x",), outputs=("y",), kind="deviation", axes=(1,), epsilon=0.0
    )
    x = np.array([[3, 3, 3], [1, 2, 3]], np.float32)
    result, _, step = run_layer(layer, {"x": x}, (-2, 2))
    assert_within(result, [[0, 0, 0], [-(1.5**0.5), 0, 1.5**0.5]], step, steps=0.6)


@pytest.mark.parametrize("kind", ["deviation", "mean_square"])
@pytest.mark.parametrize("spread", [1.0, 3e-5])
def test_sums_of_many_wide_codes_are_close_to_float(kind, spread):
    """The squares of 100 000 codes of 16 bits, times their number, need more than 64 bits."""
    x = np.random.default_rng(3).normal(2, spread, size=(2, 100_000)).astype(np.float32)
    layer = Normalization(
        name="n", inputs=("x",), outputs=("y",), kind=kind, axes=(1,), epsilon=1e-12
    )
    result, seen, step = run_layer(layer, {"x": x}, (-5, 5), bits=16)
    x = seen["x"] - (seen["x"].mean(axis=1, keepdims=True) if kind == "deviation" else 0)
    expected = x / np.sqrt((x * x).mean(axis=1, keepdims=True) + 1e-12)
    assert_within(result, np.clip(expected, -5, 5), step, steps=1.5)


@pytest.mark.parametrize("bits", [8, 16])
@pytest.mark.parametrize("size", [1e-3, 1e-6, 1e-12])
def test_an_epsilon_beyond_all_squares_is_close_to_float(size, bits):
    x = np.random.default_rng(5).normal(0, size, size=(4, 3000)).astype(np.float32)
    layer = Normalization(
        name="n", inputs=("x",), outputs=("y",), kind="deviation", axes=(1,), epsilon=1e-5
    )
    reach = 4 * size / np.sqrt(size**2 + 1e-5)
    result, seen, step = run_layer(layer, {"x": x}, (-reach, reach), bits=bits, least=0)
    x = seen["x"] - seen["x"].mean(axis=1, keepdims=True)
    expected = x / np.sqrt((x * x).mean(axis=1, keepdims=True) + 1e-5)
    assert_within(result, np.clip(expected, -reach, reach), step, steps=1.5)


@given(st.data())
@examples(80)
def test_softmax_equals_reference(data):
    shape = tuple(data.draw(st.lists(st.integers(1, 9), min_size=1, max_size=4)))
    axes = data.draw(st.sets(st.integers(0, len(shape) - 1), min_size=1))
    random = np.random.default_rng(data.draw(st.integers(0, 1000)))
    bits = data.draw(st.sampled_from([8, 16]))
    exponentials = random.integers(0, 2**23, 2**bits, np.int32, endpoint=True)
    exponentials = np.sort(exponentials)[::-1].copy()
    exponentials[0] = 2**23
    call = LoweredSoftmax(
        layer="softmax",
        inputs=(data.draw(operands(shape, bits=bits)),),
        output=data.draw(operands(shape, "y", bits)),
        axes=tuple(axes),
        exponentials=exponentials,
        scale=data.draw(st.sampled_from([1, 2**16 * 255, 2**38])),
        scale_bits=data.draw(st.sampled_from([0, 7, 16])),
    )
    assert_equals_reference(call, [data.draw(arrays(shape, CODES[bits]))])


@pytest.mark.parametrize("most", [1.0, 0.02, 0.01, 1e-4])
def test_small_probabilities_are_close_to_float(most):
    """A row of many has small ones; the step of their codes does not change their sum."""
    random = np.random.default_rng(4)
    x = random.normal(0, 0.3, size=(3, int(4 / most))).astype(np.float32)
    layer = Softmax(name="s", inputs=("x",), outputs=("y",), axes=(1,))
    result, seen, step = run_layer(layer, {"x": x}, (0, most), bits=16)
    powers = np.exp(seen["x"] - seen["x"].max(axis=1, keepdims=True))
    expected = powers / powers.sum(axis=1, keepdims=True)
    assert_within(result, np.minimum(expected, most), step)


@given(st.data())
@examples(80)
def test_bytes_equal_reference(data):
    shape = tuple(data.draw(st.lists(st.integers(1, 9), min_size=1, max_size=4)))
    axes = tuple(data.draw(st.sets(st.integers(0, len(shape) - 1), min_size=1)))
    count = int(np.prod([shape[axis] for axis in axes]))
    delta = data.draw(st.sampled_from([1e-9, 1e-3, 0.02, 0.1, 1.0, 60.0, 100.0]))
    powers, shares, sum_bits = softmax_tables(delta, data.draw(st.sampled_from([count, 70000])))
    call = LoweredByteSoftmax(
        layer="softmax",
        inputs=(data.draw(operands(shape)),),
        output=data.draw(operands(shape, "y")),
        axes=axes,
        powers=powers,
        shares=shares,
        sum_bits=sum_bits,
    )
    assert_equals_reference(call, [data.draw(arrays(shape))])


@pytest.mark.parametrize("axes", [(1,), (1, 2, 3)])
@pytest.mark.parametrize("bits", [8, 16])
def test_softmax_is_close_to_float(axes, bits):
    rng = np.random.default_rng(12)
    shape = (2, 1000) if axes == (1,) else (2, 3, 3, 4)
    x = (3 * rng.normal(size=shape)).astype(np.float32)
    layer = Softmax(name="s", inputs=("x",), outputs=("y",), axes=axes)
    result, seen, step = run_layer(layer, {"x": x}, (0, 1), bits=bits)
    e = np.exp(seen["x"])
    assert_within(result, e / e.sum(axis=axes, keepdims=True), step, steps=0.53)
