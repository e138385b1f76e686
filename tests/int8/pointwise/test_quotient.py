import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hexsim.errors import HexsimError
from hexsim.int8.dispatch import prepare
from hexsim.layers import Elementwise
from hexsim.lowering import Operand
from hexsim.lowering.elementwise import LoweredQuotient, lower_quotient
from tests.int8 import naive
from tests.int8.drawn import assert_equals_reference, encoding
from tests.int8.pointwise.test_elementwise import operands_of
from tests.int8.single_layer import assert_within, execute, run_layer
from tests.thorough import examples


@given(operands_of(2), st.data())
@examples(80)
def test_equals_reference(case, data):
    inputs, output, codes = case
    top = 2**output.bits - 1
    low = data.draw(st.integers(0, top))
    call = LoweredQuotient(
        layer="div",
        inputs=inputs,
        output=output,
        scale=data.draw(st.sampled_from([0, 2**31]) | st.integers(1, 2**30)),
        shift=data.draw(st.sampled_from([0, 44]) | st.integers(0, 44)),
        low=low,
        high=data.draw(st.integers(low, top)),
    )
    assert_equals_reference(call, codes)


@given(st.floats(1e-12, 1e12))
def test_the_scale_keeps_its_bits_and_fits(ratio):
    layer = Elementwise(name="d", inputs=("a", "b"), outputs=("y",), kind="div")
    x, w = (Operand(name, (3,), encoding(0)) for name in "ab")
    call = lower_quotient(layer, (x, w), Operand("y", (3,), encoding(0, delta=1 / ratio)))
    assert 0 <= call.shift <= 44
    assert 0 <= call.scale <= 2**31
    if 2**-14 <= ratio < 2**30:
        assert call.scale / 2**call.shift == pytest.approx(ratio, rel=2**-28)


def test_divides_two_operands_only():
    layer = Elementwise(name="d", inputs=("a",), outputs=("y",), kind="div")
    with pytest.raises(HexsimError, match="layer 'd' divides 3 operands"):
        lower_quotient(layer, (None, None, None), None)


@pytest.mark.parametrize("bits", [8, 16])
def test_close_to_float(bits):
    rng = np.random.default_rng(5)
    x = rng.normal(size=(1, 5, 6, 4)).astype(np.float32)
    divisor = rng.choice([-1, 1], 4) * rng.uniform(0.5, 2, 4)
    layer = Elementwise(name="d", inputs=("x", "c"), outputs=("y",), kind="div")
    result, seen, step = run_layer(
        layer, {"x": x}, (-4, 5), {"c": divisor.astype(np.float32)}, bits=bits
    )
    assert_within(result, np.clip(seen["x"] / seen["c"], -4, 5), step, steps=0.55)


@pytest.mark.parametrize(("code", "expected"), [(7, 255), (5, 40), (2, 0)])
def test_zero_divides_as_real_numbers_do(code, expected):
    """A divisor of zero gives the largest code, the code of zero, or the smallest."""
    x, w, y = (encoding(zero) for zero in (5, 9, 40))
    call = lower_quotient(
        Elementwise(name="d", inputs=("a", "b"), outputs=("y",), kind="div"),
        (Operand("a", (1,), x), Operand("b", (1,), w)),
        Operand("y", (1,), y),
    )
    out = np.zeros(1, np.uint8)
    execute(prepare(call), [np.array([code], np.uint8), np.array([9], np.uint8)], out)
    assert out[0] == expected == naive.run(call, [np.array([code]), np.array([9])])[0]
