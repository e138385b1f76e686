import math
import statistics

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hexsim.int8.pointwise.functions import look_up
from hexsim.layers import Clamp, Neuron, Prelu
from hexsim.layers.elementwise import FUNCTIONS
from hexsim.lowering.functions import LoweredLookup
from tests.int8.drawn import BITS, CODES, arrays, assert_equals_reference, operands
from tests.int8.single_layer import assert_within, run_layer
from tests.thorough import examples


@given(st.data())
@examples(50)
def test_equals_reference(data):
    channels = data.draw(st.integers(1, 20))
    shape = (*data.draw(st.lists(st.integers(1, 4), max_size=3)), channels)
    bits, of_result = data.draw(BITS), data.draw(BITS)
    x, y = data.draw(operands(shape, bits=bits)), data.draw(operands(shape, "y", of_result))
    count = data.draw(st.sampled_from([1, channels]))
    tables = data.draw(arrays((count, 2**bits), CODES[of_result]))
    call = LoweredLookup(layer="neuron", inputs=(x,), output=y, tables=tables)
    assert_equals_reference(call, [data.draw(arrays(shape, CODES[bits]))])


@pytest.mark.parametrize("kernels", ["", "portable"])
@pytest.mark.parametrize("size", [1, 31, 32, 33, 63, 64, 65, 256, 1000])
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
    "abs": np.abs,
    "ceil": np.ceil,
    "cos": np.cos,
    "erf": np.vectorize(math.erf),
    "exp": np.exp,
    "floor": np.floor,
    "gelu": lambda x: x * np.vectorize(statistics.NormalDist().cdf)(x),
    "gelu_tanh": lambda x: x / (1 + np.exp(-2 * np.sqrt(2 / np.pi) * (x + 0.044715 * x**3))),
    "log": lambda x: np.log(np.maximum(x, 0)),
    "mish": lambda x: x * np.tanh(np.log(1 + np.exp(x))),
    "neg": lambda x: 0 - x,
    "pow": lambda x: np.maximum(x, 0) ** 0.2,
    "reciprocal": lambda x: 1 / x,
    "round": np.round,
    "rsqrt": lambda x: np.maximum(x, 0) ** -0.5,
    "silu": lambda x: x / (1 + np.exp(-0.2 * x)),
    "sin": np.sin,
    "softplus": lambda x: np.log(1 + np.exp(x)),
    "softsign": lambda x: x / (1 + abs(x)),
    "sqrt": lambda x: np.sqrt(np.maximum(x, 0)),
    "square": lambda x: x * x,
}


@pytest.mark.parametrize("function", FLOAT)
@pytest.mark.parametrize("bits", [8, 16])
@pytest.mark.filterwarnings("ignore:divide by zero")
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
    reach = FLOAT[function](x[np.abs(x) > 0.2])  # a pole reaches beyond any range
    reach = np.append(reach[np.isfinite(reach)], 0)
    low, high = reach.min(), reach.max()
    result, seen, step = run_layer(layer, {"x": x}, (low, high), bits=bits)
    expected = np.clip(FLOAT[function](seen["x"]), low, high)
    # Half a step: a table has one rounding. (Ranges are moved by up to half a step themselves.)
    assert_within(result, expected, step, steps=1.01)


def test_every_function_is_compared():
    assert set(FLOAT) == set(FUNCTIONS)


@pytest.mark.parametrize(
    ("function", "values", "expected"),
    [
        ("sqrt", [-2.0, -0.01, 0.0, 1.0, 4.0], [0, 0, 0, 1, 2]),
        ("log", [-2.0, 0.0, 1.0], [-3, -3, 0]),
        ("rsqrt", [-4.0, 0.0, 4.0], [3, 3, 0.5]),
        ("reciprocal", [-4.0, 0.0, 4.0], [-0.25, 3, 0.25]),
        ("exp", [-4.0, 4.0], [0.018, 3]),
    ],
)
@pytest.mark.parametrize("bits", [8, 16])
def test_codes_without_a_finite_result(function, values, expected, bits):
    x = np.array(values, np.float32)
    layer = Neuron(name="n", inputs=("x",), outputs=("y",), function=function)
    result, _, step = run_layer(layer, {"x": x}, (-3, 3), bits=bits)
    assert_within(result, np.array(expected), max(step, 0.01), steps=1.01)


def test_a_function_without_any_result_is_zero():
    x = np.array([-3.0, -2.0], np.float32)
    layer = Neuron(name="n", inputs=("x",), outputs=("y",), function="sqrt")
    result, _, _ = run_layer(layer, {"x": x}, (0, 1))
    assert not result.any()


@pytest.mark.parametrize("bits", [8, 16])
def test_prelu_close_to_float(bits):
    x = np.linspace(-5, 5, 600, dtype=np.float32).reshape(1, 10, 10, 6)
    slope = np.linspace(-1, 2, 6, dtype=np.float32)
    layer = Prelu(name="p", inputs=("x",), outputs=("y",), slope="s")
    result, seen, step = run_layer(layer, {"x": x}, (-10, 5), {"s": slope}, bits=bits)
    expected = np.where(seen["x"] < 0, slope * seen["x"], seen["x"])
    assert_within(result, np.clip(expected, -10, 5), step, steps=1.01)
