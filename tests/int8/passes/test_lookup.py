import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hexsim.binding.lookup import BoundLookup
from hexsim.int8.passes.lookup import look_up
from hexsim.layers import Clamp, Neuron, Prelu
from tests.int8.drawn import BITS, CODES, arrays, assert_equals_twin, operands
from tests.int8.single_layer import assert_within, run_layer


@given(st.data())
@settings(max_examples=50, deadline=None)
def test_equals_twin(data):
    channels = data.draw(st.integers(1, 20))
    shape = (*data.draw(st.lists(st.integers(1, 4), max_size=3)), channels)
    bits, of_result = data.draw(BITS), data.draw(BITS)
    x, y = data.draw(operands(shape, bits=bits)), data.draw(operands(shape, "y", of_result))
    count = data.draw(st.sampled_from([1, channels]))
    tables = data.draw(arrays((count, 2**bits), CODES[of_result]))
    call = BoundLookup(layer="neuron", inputs=(x,), output=y, tables=tables)
    assert_equals_twin(call, [data.draw(arrays(shape, CODES[bits]))])


@pytest.mark.parametrize("kernels", ["", "portable"])
@pytest.mark.parametrize("size", [1, 31, 32, 33, 256, 1000])
def test_one_table_of_bytes(monkeypatch, kernels, size):
    monkeypatch.setenv("HEXSIM_KERNELS", kernels)
    rng = np.random.default_rng(size)
    table = rng.permutation(256).astype(np.uint8).reshape(1, -1)
    codes = np.resize(np.arange(256, dtype=np.uint8), size)
    out = np.empty_like(codes)
    look_up(codes, table, out)()
    np.testing.assert_array_equal(out, table[0][codes])
    look_up(codes, table, codes)()
    np.testing.assert_array_equal(codes, out)


FLOAT = {
    "clamp": lambda x: np.clip(x, -1, 2),
    "leaky_relu": lambda x: np.where(x < 0, 0.2 * x, x),
    "sigmoid": lambda x: 1 / (1 + np.exp(-x)),
    "tanh": np.tanh,
    "elu": lambda x: np.where(x < 0, 0.2 * (np.exp(x) - 1), x),
    "hard_sigmoid": lambda x: np.clip(0.2 * x + 0.4, 0, 1),
    "hard_swish": lambda x: x * np.clip(x + 3, 0, 6) / 6,
}


@pytest.mark.parametrize("function", FLOAT)
@pytest.mark.parametrize("bits", [8, 16])
def test_close_to_float(function, bits):
    x = np.linspace(-5, 5, 600, dtype=np.float32).reshape(1, 10, 10, 6)
    layer = Neuron(
        name="n",
        inputs=("x",),
        outputs=("y",),
        function=function,
        clamp=Clamp(-1.0, 2.0),
        alpha=0.2,
        beta=0.4,
    )
    expected = FLOAT[function](x)
    result, seen, step = run_layer(layer, {"x": x}, (expected.min(), expected.max()), bits=bits)
    # Half a step: a table has one rounding. (Ranges are moved by up to half a step themselves.)
    assert_within(result, FLOAT[function](seen["x"]), step, steps=1.01)


@pytest.mark.parametrize("bits", [8, 16])
def test_prelu_close_to_float(bits):
    x = np.linspace(-5, 5, 600, dtype=np.float32).reshape(1, 10, 10, 6)
    slope = np.linspace(-1, 2, 6, dtype=np.float32)
    layer = Prelu(name="p", inputs=("x",), outputs=("y",), slope="s")
    result, seen, step = run_layer(layer, {"x": x}, (-10, 5), {"s": slope}, bits=bits)
    expected = np.where(seen["x"] < 0, slope * seen["x"], seen["x"])
    assert_within(result, np.clip(expected, -10, 5), step, steps=1.01)
