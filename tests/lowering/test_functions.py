"""Functions of 8-bit codes in encodings and on runtimes that are not Hexagon NN's."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hexsim.int8.runner import IntegerSubnet
from hexsim.layers import Neuron, Prelu, Softmax
from hexsim.lowering import lower
from hexsim.lowering.normalization import EXPONENTIAL_BITS
from hexsim.planning.plan import Subnet
from hexsim.planning.planner import make_plan
from hexsim.quantization.encodings import Encoding
from tests.int8.single_layer import quantized
from tests.thorough import examples

FUNCTIONS = {
    "sigmoid": lambda x: 1 / (1 + np.exp(-x)),
    "tanh": np.tanh,
    "leaky_relu": lambda x: np.where(x >= 0, x, 0.3 * x),
    "softmax": lambda x: np.exp(x) / np.exp(x).sum(),
}


def layer_of(function):
    """The layer from "x" to "y"."""
    names = {"name": "layer", "inputs": ("x",), "outputs": ("y",)}
    if function == "softmax":
        return Softmax(**names, axes=(1,))
    return Neuron(**names, function=function, alpha=0.3)


def codes(layer, x, y, runtime, constants=None, count=256):
    """The output's codes for `count` codes of the input, spread over all."""
    given_codes = np.linspace(0, 255, count).round()
    reals = ((given_codes + x.offset) * x.delta).astype(np.float32)[None]
    model = quantized([layer], {"x": reals.shape}, constants or {}, {"x": x, "y": y}, ["y"])
    subnet = Subnet(runtime, "htp" if runtime == "htp" else "hvx", model.network.layers, "all")
    (planned,) = make_plan(model, runtime, [subnet]).subnets
    runner = IntegerSubnet(tuple(lower(planned, model)), planned.inputs, planned.outputs)
    return y.quantize(runner.run({"x": reals})["y"])[0].astype(int), (given_codes + x.offset) * (
        x.delta
    )


def encoding(delta, zero_point):
    """An 8-bit encoding of a step and a zero point."""
    return Encoding(8, -zero_point * delta, (255 - zero_point) * delta, delta, -zero_point)


@given(st.data())
@examples(120)
def test_any_other_encoding_has_the_exact_function(data):
    """Within half a code, and on htp in any encoding; a power of two is none of Hexagon NN's.

    A softmax is a quotient of integers, whose rounding shows where a step is below 2^-14.
    """
    function = data.draw(st.sampled_from(sorted(FUNCTIONS.keys() - {"leaky_relu"})))
    runtime = data.draw(st.sampled_from(["dsp", "htp"]))
    step = data.draw(
        st.sampled_from([1 / 256, 1 / 127, 1 / 255] if runtime == "htp" else [1 / 256])
    )
    x = encoding(data.draw(st.floats(1e-4, 0.3)), data.draw(st.integers(0, 255)))
    y = encoding(
        step / 2 ** data.draw(st.integers(0, 14)), data.draw(st.sampled_from([0, 100, 127, 128]))
    )
    table, reals = codes(layer_of(function), x, y, runtime)
    wanted = np.clip(FUNCTIONS[function](reals) / y.delta + y.zero_point, 0, 255)
    assert np.abs(table - wanted).max() <= 0.5 + 1e-3 + unit_of_exponentials(function) / y.delta


def unit_of_exponentials(function):
    """Half a unit of the integers that a softmax divides, which shows in very fine steps."""
    return 2.0 ** -(EXPONENTIAL_BITS + 1) if function == "softmax" else 0.0


@pytest.mark.parametrize(
    ("function", "step", "zero_point"),
    [("sigmoid", 255, 0), ("tanh", 127, 127), ("leaky_relu", 50, 60)],
)
def test_the_tensor_processor_has_no_polynomials(function, step, zero_point):
    """In Hexagon NN's own encodings codes differ by runtime; those of htp are rounded once."""
    x, y = encoding(0.02, 100), encoding(1 / step, zero_point)
    table, reals = codes(layer_of(function), x, y, "htp")
    exact = np.floor(FUNCTIONS[function](reals) / y.delta + y.zero_point + 0.5).clip(0, 255)
    assert table.tolist() == exact.tolist()
    assert codes(layer_of(function), x, y, "dsp")[0].tolist() != exact.tolist()


def test_slopes_of_channels_on_the_tensor_processor():
    slopes = np.array([0.1, 0.25, -1.5, 0.7], np.float32)
    layer = Prelu(name="layer", inputs=("x",), outputs=("y",), slope="slopes")
    x, y = encoding(0.02, 200), encoding(0.025, 60)
    table, reals = codes(layer, x, y, "htp", {"slopes": slopes}, count=4)
    exact = np.where(reals >= 0, reals, slopes * reals) / y.delta + y.zero_point
    assert table.tolist() == np.floor(exact + 0.5).clip(0, 255).tolist()


def test_scores_at_rest_keep_their_differences():
    """A wake word's logits of -12 to -8, in an encoding of 0 to 0.0004."""
    x, y = encoding(12.5 / 255, 255), encoding(0.0004 / 255, 0)
    table, _ = codes(layer_of("sigmoid"), x, y, "dsp")
    assert len(set(table[:100].tolist())) > 50


@pytest.mark.parametrize("count", [1500, 40000])
def test_an_attention_over_many_is_no_constant(count):
    """Probabilities below 1/16320, the unit of Hexagon NN's softmax."""
    layer = layer_of("softmax")
    y = Encoding.from_range(0.0, 4 / count, 8)
    table, reals = codes(layer, encoding(0.004, 128), y, "dsp", count=count)
    wanted = FUNCTIONS["softmax"](reals) / y.delta
    assert np.abs(table - wanted).max() <= 0.51
