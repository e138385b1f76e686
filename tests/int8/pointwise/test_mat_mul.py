import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hexsim.errors import HexsimError
from hexsim.layers import RELU, MatMul
from hexsim.lowering.products import LoweredMatMul
from tests.int8.drawn import BITS, CODES, arrays, assert_equals_reference, operands, stages
from tests.int8.single_layer import assert_within, run_layer
from tests.thorough import examples

BATCHES = st.sampled_from(
    [((), ()), ((2,), ()), ((), (3,)), ((2, 1), (3,)), ((1, 3), (2, 1)), ((2, 2), (2, 2))]
)


@given(st.data())
@examples(120)
def test_equals_reference(data):
    outer = data.draw(BATCHES)
    rows, depth, columns = (data.draw(st.integers(1, 40)) for _ in range(3))
    bits = data.draw(BITS)
    transposed = data.draw(st.booleans())
    shapes = (
        (*outer[0], rows, depth),
        (*outer[1], *((columns, depth) if transposed else (depth, columns))),
    )
    result = (*np.broadcast_shapes(*outer), rows, columns)
    call = LoweredMatMul(
        layer="product",
        inputs=tuple(data.draw(operands(shape, "ab"[k], bits)) for k, shape in enumerate(shapes)),
        output=data.draw(operands(result, "y", bits)),
        transposed=transposed,
        stage=data.draw(stages(1, bits, 2 * (bits - 8))),
    )
    assert_equals_reference(call, [data.draw(arrays(shape, CODES[bits])) for shape in shapes])


@pytest.mark.parametrize("bits", [8, 16])
@pytest.mark.parametrize("transposed", [False, True])
def test_close_to_float(bits, transposed):
    rng = np.random.default_rng(12)
    feeds = {"a": rng.normal(size=(2, 5, 40)), "b": rng.normal(size=(2, 40, 7))}
    if transposed:
        feeds["b"] = feeds["b"].swapaxes(-1, -2).copy()
    feeds = {name: array.astype(np.float32) for name, array in feeds.items()}
    layer = MatMul(
        name="m", inputs=("a", "b"), outputs=("y",), transposed=transposed, alpha=0.5, clamp=RELU
    )
    result, seen, step = run_layer(layer, feeds, (0, 12), bits=bits)
    b = seen["b"].swapaxes(-1, -2) if transposed else seen["b"]
    assert_within(result, np.maximum(0.5 * seen["a"] @ b, 0), step, steps=0.51)


def test_a_factor_below_zero_is_refused():
    layer = MatMul(name="m", inputs=("a", "b"), outputs=("y",), alpha=-1.0)
    feeds = {"a": np.ones((2, 3), np.float32), "b": np.ones((3, 2), np.float32)}
    with pytest.raises(HexsimError, match="takes factors above zero"):
        run_layer(layer, feeds, (-4, 4))
