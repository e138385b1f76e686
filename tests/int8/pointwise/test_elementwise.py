import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hexsim.layers import NO_CLAMP, RELU, Elementwise
from hexsim.lowering.elementwise import (
    LoweredExtremum,
    LoweredPairProduct,
    LoweredPairSum,
    LoweredProduct,
    LoweredSum,
)
from hexsim.lowering.requantize import FACTOR_BITS
from tests.int8.drawn import BITS, CODES, arrays, assert_equals_reference, operands, stages
from tests.int8.single_layer import assert_within, run_layer
from tests.thorough import examples

SHAPES = [(2, 3, 4, 5), (1, 1, 1, 5), (5,), (2, 3, 4, 1), (3, 1, 1), ()]


@st.composite
def operands_of(draw, most):
    full = SHAPES[0]
    others = draw(st.lists(st.sampled_from(SHAPES), min_size=1, max_size=most - 1))
    shapes = draw(st.permutations([full, *others]))
    bits = draw(BITS)
    inputs = tuple(draw(operands(shape, f"x{i}", bits)) for i, shape in enumerate(shapes))
    codes = [draw(arrays(shape, CODES[bits])) for shape in shapes]
    return inputs, draw(operands(full, "y", bits)), codes


@given(operands_of(4), st.data())
@examples(80)
def test_sum_equals_reference(case, data):
    inputs, output, codes = case
    random = np.random.default_rng(data.draw(st.integers(0, 1000)))
    limit = 1 << FACTOR_BITS[output.bits]
    factors = random.integers(-limit, limit, len(inputs), np.int32, endpoint=True)
    stage = data.draw(stages(1, output.bits, output.bits - 8))
    call = LoweredSum(layer="sum", inputs=inputs, output=output, factors=factors, stage=stage)
    assert_equals_reference(call, codes)


@given(operands_of(3), st.data())
@examples(80)
def test_product_equals_reference(case, data):
    inputs, output, codes = case
    stage = data.draw(stages(1, output.bits, (output.bits - 8) * len(inputs)))
    assert_equals_reference(
        LoweredProduct(layer="mul", inputs=inputs, output=output, stage=stage), codes
    )


@given(st.sampled_from(SHAPES), st.booleans(), st.data())
@examples(60)
def test_sum_and_product_of_two_equal_reference(second, product, data):
    shapes = (SHAPES[0], second)
    inputs = tuple(data.draw(operands(shape, f"x{i}")) for i, shape in enumerate(shapes))
    codes = [data.draw(arrays(shape)) for shape in shapes]
    low = data.draw(st.integers(0, 255))
    common = {
        "layer": "e",
        "inputs": inputs,
        "output": data.draw(operands(SHAPES[0], "y")),
        "offset": data.draw(st.integers(-(2**16), 2**16)),
        "shift": data.draw(st.integers(1, 7)),
        "low": low,
        "high": data.draw(st.integers(low, 255)),
    }
    factor = st.integers(-(2**14), 2**14)
    if product:
        middles = [2 * x.zero_point - 255 for x in inputs]
        centre = ((middles[0] * middles[1] + 256) >> 9) * 256
        factor = data.draw(st.integers(0, 2**15 - 1))
        call = LoweredPairProduct(centre=centre, factor=factor, **common)
    else:
        factors = (data.draw(factor), data.draw(factor))
        call = LoweredPairSum(factors=factors, cut=data.draw(st.integers(1, 8)), **common)
    assert_equals_reference(call, codes)


@given(operands_of(4), st.sampled_from(["max", "min"]), st.data())
@examples(60)
def test_extremum_equals_reference(case, kind, data):
    inputs, output, codes = case
    kind_of_table = arrays((2**output.bits,), CODES[output.bits])
    tables = tuple(data.draw(st.none() | kind_of_table) for _ in inputs)
    call = LoweredExtremum(layer="max", inputs=inputs, output=output, kind=kind, tables=tables)
    assert_equals_reference(call, codes)


@given(st.data())
@examples(5)
def test_sum_longer_than_a_chunk_equals_reference(data):
    shape = (1, 41, 40, 7)
    x, y = data.draw(operands(shape, "x")), data.draw(operands(shape, "y"))
    factors = np.array([16384, 9000], np.int32)
    stage = data.draw(stages(1))
    call = LoweredSum(layer="sum", inputs=(x, x), output=y, factors=factors, stage=stage)
    assert_equals_reference(call, [data.draw(arrays(shape)) for _ in range(2)])


FLOAT = {
    "sum": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "product": lambda a, b: a * b,
    "max": np.maximum,
    "min": np.minimum,
}


@pytest.mark.parametrize("clamp", [NO_CLAMP, RELU])
@pytest.mark.parametrize("kind", FLOAT)
@pytest.mark.parametrize("bits", [8, 16])
def test_close_to_float(kind, clamp, bits):
    rng = np.random.default_rng(9)
    x = rng.normal(size=(1, 5, 6, 4)).astype(np.float32)
    constant = (3 * rng.normal(size=(4,))).astype(np.float32)
    layer = Elementwise(name="e", inputs=("x", "c"), outputs=("y",), kind=kind, clamp=clamp)
    result, seen, step = run_layer(layer, {"x": x}, (-4, 5), {"c": constant}, bits=bits)
    expected = np.clip(FLOAT[kind](seen["x"], seen["c"]), max(clamp.low, -4), 5)
    assert_within(result, expected, step)
