import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hexsim.layers import Softmax
from hexsim.lowering.softmax import LoweredByteSoftmax, LoweredSoftmax, softmax_tables
from tests.int8.drawn import CODES, arrays, assert_equals_reference, operands
from tests.int8.single_layer import assert_within, run_layer
from tests.thorough import examples


@given(st.data())
@examples(80)
def test_equals_reference(data):
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
    )
    assert_equals_reference(call, [data.draw(arrays(shape, CODES[bits]))])


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
def test_close_to_float(axes, bits):
    rng = np.random.default_rng(12)
    shape = (2, 1000) if axes == (1,) else (2, 3, 3, 4)
    x = (3 * rng.normal(size=shape)).astype(np.float32)
    layer = Softmax(name="s", inputs=("x",), outputs=("y",), axes=axes)
    result, seen, step = run_layer(layer, {"x": x}, (0, 1), bits=bits)
    e = np.exp(seen["x"])
    assert_within(result, e / e.sum(axis=axes, keepdims=True), step, steps=0.53)
