import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hexsim.layers import RELU, FullyConnected
from hexsim.lowering.products import LoweredFullyConnected
from tests.int8.drawn import BITS, CODES, arrays, assert_equals_reference, operands, stages, weights
from tests.int8.single_layer import assert_within, run_layer
from tests.thorough import examples

KERNELS = ("", "portable", "pairs", "guarded")


@st.composite
def fully_connected(draw):
    batch, outputs = draw(st.integers(1, 3)), draw(st.integers(1, 20))
    rest = draw(st.lists(st.sampled_from([1, 2, 7, 32]), min_size=1, max_size=3))
    bits = draw(BITS)
    x = draw(operands((batch, *rest), bits=bits))
    depth = int(np.prod(rest))
    multiplied = draw(weights((depth, outputs)))
    call = LoweredFullyConnected(
        layer="fc",
        inputs=(x,),
        output=draw(operands((batch, outputs), "y", bits)),
        weights=multiplied,
        stage=draw(stages(outputs, bits, bits - 8 + multiplied.bits - 8)),
    )
    return call, draw(arrays(x.shape, CODES[bits]))


@given(fully_connected())
@examples(100)
def test_equals_reference(case):
    call, codes = case
    assert_equals_reference(call, [codes], KERNELS)


@pytest.mark.parametrize("signed", [False, True])
def test_close_to_float(signed):
    rng = np.random.default_rng(7)
    x = rng.normal(size=(2, 3, 3, 20)).astype(np.float32)
    weight = rng.normal(size=(180, 15)).astype(np.float32)
    bias = rng.normal(size=15).astype(np.float32)
    layer = FullyConnected(
        name="fc",
        inputs=("x",),
        outputs=("y",),
        weight="w",
        bias="b",
        clamp=RELU,
        output_channels=15,
    )
    constants = {"w": weight, "b": bias}
    result, seen, step = run_layer(layer, {"x": x}, (0, 40), constants, signed_weights=signed)
    expected = np.maximum(seen["x"].reshape(2, -1) @ seen["w"] + bias, 0)
    # The second rounding of signed weights (each within half a step of 1/127 of its channel's
    # largest) is a random walk over 180 terms, not a bound, so it gets more room.
    assert_within(result, np.minimum(expected, 40), step, steps=2.5 if signed else 0.75)
