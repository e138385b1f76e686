import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hexsim.errors import HexsimError
from hexsim.layers import Recurrent
from hexsim.layers.recurrent import GATES
from hexsim.lowering import Weights
from hexsim.lowering.recurrent import LoweredRecurrent, Scales, lower_recurrent
from tests.int8.drawn import BITS, CODES, SEEDS, arrays, assert_equals_reference, operands
from tests.int8.single_layer import assert_within, run_layer
from tests.thorough import examples

DIRECTIONS = {"forward": 1, "reverse": 1, "bidirectional": 2}
TABLES = {"sigmoid": lambda x: 1 / (1 + np.exp(-x)), "tanh": np.tanh}


def knots(name):
    exact = TABLES[name](np.arange(257) / 16 - 8) * 2**15
    return np.minimum(np.floor(exact + 0.5), 32767).astype(np.int64)


@st.composite
def products(draw, inputs, columns):
    """Weights, and scales that lead to sums between gates that are open and shut."""
    dtype = np.dtype(draw(st.sampled_from([np.uint8, np.int8])))
    zero_point = draw(st.integers(0, 255)) if dtype.kind == "u" else 0
    weights = Weights(draw(arrays((inputs, columns), dtype)), zero_point, np.ones(columns))
    random = np.random.default_rng(draw(SEEDS))
    entries = draw(st.sampled_from([1, columns]))
    return weights, Scales.of(np.exp(random.uniform(-3, 8, entries)))


@given(st.data())
@examples(120)
def test_equals_reference(data):
    cell = data.draw(st.sampled_from(sorted(GATES)))
    direction = data.draw(st.sampled_from(sorted(DIRECTIONS)))
    steps, batch, inputs, hidden = (data.draw(st.integers(1, 4)) for _ in range(4))
    bits = data.draw(BITS)
    columns = DIRECTIONS[direction] * GATES[cell] * hidden
    states = ["hidden"] * data.draw(st.booleans())
    states += ["cell"] * (cell == "lstm" and data.draw(st.booleans()))
    shapes = [(steps, batch, inputs)] + [(DIRECTIONS[direction], batch, hidden)] * len(states)
    weights, of_input = data.draw(products(inputs, columns))
    recurrence, of_state = data.draw(products(hidden, columns))
    random = np.random.default_rng(data.draw(SEEDS))
    call = LoweredRecurrent(
        layer="rnn",
        inputs=tuple(data.draw(operands(s, f"x{k}", bits)) for k, s in enumerate(shapes)),
        output=data.draw(operands((steps, DIRECTIONS[direction], batch, hidden), "y", bits)),
        cell=cell,
        direction=direction,
        initial=tuple(states),
        resets_late=cell == "gru" and data.draw(st.booleans()),
        weights=weights,
        recurrence=recurrence,
        of_input=of_input,
        of_state=of_state,
        of_output=Scales.of(2.0 ** -data.draw(st.integers(8, 26))),
        bias=random.integers(-(2**22), 2**22, (2, columns)),
        sigmoid=knots("sigmoid"),
        tanh=knots("tanh"),
        of_hidden=Scales.of(2.0 ** data.draw(st.floats(-12, 12)) if "hidden" in states else 1),
        cell_factor=data.draw(st.sampled_from([1, 2**29, 2**36])) if "cell" in states else 0,
    )
    assert_equals_reference(call, [data.draw(arrays(shape, CODES[bits])) for shape in shapes])


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


@pytest.mark.parametrize("bits", [8, 16])
@pytest.mark.parametrize("cell", sorted(GATES))
def test_close_to_float(cell, bits):
    rng = np.random.default_rng(3)
    columns = GATES[cell] * 16
    constants = {
        "w": rng.normal(0, 0.4, (12, columns)),
        "r": rng.normal(0, 0.2, (16, columns)),
        "b": rng.normal(0, 0.4, (2, columns)),
    }
    feeds = {"x": rng.normal(size=(20, 1, 12)), "h": rng.uniform(-0.5, 0.5, (1, 1, 16))}
    feeds, constants = (
        {name: array.astype(np.float32) for name, array in some.items()}
        for some in (feeds, constants)
    )
    layer = Recurrent(
        name="n", inputs=("x", "h"), outputs=("y",), cell=cell, hidden=16, initial=("hidden",),
        weight="w", recurrence="r", bias="b", resets_late=True,
    )  # fmt: skip
    result, seen, step = run_layer(layer, feeds, (-1, 1), constants, bits=bits)
    h, c, bias, expected = seen["h"][0, 0], np.zeros(16), constants["b"].astype(float), []
    for x in seen["x"][:, 0]:
        p, q = x @ seen["w"] + bias[0], h @ seen["r"] + bias[1]
        (p, q), total = (np.split(v, GATES[cell]) for v in (p, q)), np.split(p + q, GATES[cell])
        if cell == "rnn":
            h = np.tanh(total[0])
        elif cell == "gru":
            z, n = sigmoid(total[0]), np.tanh(p[2] + sigmoid(total[1]) * q[2])
            h = (1 - z) * n + z * h
        else:
            c = sigmoid(total[2]) * c + sigmoid(total[0]) * np.tanh(total[3])
            h = sigmoid(total[1]) * np.tanh(c)
        expected.append(h)
    # A code of a state comes back in every step, with what rounding has made of it, and what gates
    # read has a step of 2^-12, which is eight codes of 16 bits.
    assert_within(result[:, 0, 0], expected, step, steps=2 if bits == 8 else 20)


@pytest.mark.parametrize("bits", [8, 16])
def test_an_initial_state_may_be_beyond_the_output(bits):
    """A GRU that keeps a third of 3 and adds two thirds of tanh(3) is at 1.66, then at 1.22."""
    keep = np.float32(np.log(0.5))
    constants = {
        "w": np.array([[0, 0, 0]], np.float32),
        "r": np.zeros((1, 3), np.float32),
        "b": np.array([[keep, 0, 3], [0, 0, 0]], np.float32),
    }
    layer = Recurrent(
        name="n", inputs=("x", "h"), outputs=("y",), cell="gru", hidden=1, initial=("hidden",),
        weight="w", recurrence="r", bias="b", resets_late=True,
    )  # fmt: skip
    feeds = {"x": np.zeros((2, 1, 1), np.float32), "h": np.full((1, 1, 1), 3, np.float32)}
    result, _, step = run_layer(layer, feeds, (-2, 2), constants, bits=bits)
    first = (2 * np.tanh(3) + 3) / 3
    expected = [first, (2 * np.tanh(3) + first) / 3]
    assert_within(result[:, 0, 0, 0], expected, step, steps=2 if bits == 8 else 20)


def test_weights_of_more_than_8_bits_are_refused(monkeypatch):
    class Source:
        def operands(self, layer):
            return (), None

    layer = Recurrent(
        name="n", inputs=("x",), outputs=("y",), cell="rnn", hidden=2, weight="w", recurrence="r"
    )
    wide = Weights(np.zeros((2, 2), np.uint16), 0, np.ones(2))
    monkeypatch.setattr("hexsim.lowering.recurrent.lower_weights", lambda *given: wide)
    with pytest.raises(HexsimError, match="weights of up to 8 bits"):
        lower_recurrent(layer, Source())
