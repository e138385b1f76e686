"""Layers whose weights have steps too small for the accumulator: right codes, and the reference's.

The expected values are real arithmetic on what the codes stand for.
"""

from dataclasses import replace

import numpy as np
import pytest

from hexsim.errors import HexsimError
from hexsim.layers import (
    BatchNorm,
    Convolution,
    Deconvolution,
    Elementwise,
    FullyConnected,
    LocalResponseNorm,
    MatMul,
    Normalization,
    Pooling,
    Recurrent,
    Reduce,
    Resize,
    Window,
)
from hexsim.onnx_io.float_engine import FloatEngine
from hexsim.quantization.encodings import AxisEncoding, Encoding, input_codes
from tests.int8 import naive
from tests.int8.single_layer import codes_of, lowered, quantized

IMAGE = (1, 5, 4, 6)
STEPS = (0.004, 2.0**-23 / 100, 1e-12, 1e-15, 0.003, 1e-12)
"""Of the channels: usual, zeros, zeros, small weights, usual, zeros of a bias beyond all codes."""
DEAD = [1, 2, 5]
BIAS = np.array([0.1, 0.25, -0.4, 0.3, 0.0, -90.0], np.float32)


def constants(shape, largest=127):
    """Weights of the last axis as the channels say, and their encodings."""
    random = np.random.default_rng(3)
    codes = random.integers(-largest, largest, shape, endpoint=True)
    codes[..., DEAD] = 0
    bits = 8 if largest == 127 else 16
    axis = AxisEncoding(tuple(Encoding.symmetric_of(step * largest, bits) for step in STEPS))
    return (codes * np.array(STEPS)).astype(np.float32), axis


WINDOW = Window((3, 3), (1, 1), (1, 1, 1, 1))
FILTERS = {
    "dense": (Convolution, {"window": WINDOW}, (3, 3, 6, 6)),
    "grouped": (Convolution, {"window": WINDOW, "groups": 3}, (3, 3, 2, 6)),
    "depthwise": (Convolution, {"window": WINDOW, "groups": 6}, (3, 3, 1, 6)),
    "transposed": (Deconvolution, {"window": Window((2, 2), (2, 2))}, (2, 2, 6, 6)),
    "transposed depthwise": (
        Deconvolution,
        {"window": Window((3, 3), (2, 2)), "groups": 6},
        (3, 3, 1, 6),
    ),
    "fully connected": (FullyConnected, {}, (120, 6)),
}


def judged(layer, feeds, given, parameters, encodings, *, signed=False):
    """The codes of a layer and what real arithmetic says, unrounded and within the range.

    The kernel's codes equal the reference's, on one thread and on two.
    """
    shapes = {name: array.shape for name, array in feeds.items()}
    model = quantized([layer], shapes, given, encodings, ["y"])
    model = replace(model, parameters={**model.parameters, **parameters})
    subnet, calls = lowered(model, signed)
    produced = codes_of(subnet, calls, feeds)["y"]
    np.testing.assert_array_equal(codes_of(subnet, calls, feeds, threads=2)["y"], produced)
    (call,) = calls
    inputs = [
        x.codes if x.codes is not None else input_codes(feeds[x.name], encodings[x.name])
        for x in call.inputs
    ]
    expected = naive.run(call, [np.asarray(codes).astype(np.int64) for codes in inputs])
    np.testing.assert_array_equal(expected, produced)
    seen = {n: encodings[n].dequantize(input_codes(a, encodings[n])) for n, a in feeds.items()}
    real = FloatEngine(model.as_stored).run(seen)["y"].astype(np.float64)
    output = encodings["y"]
    return produced, np.clip(real / output.delta + output.zero_point, 0, output.steps)


def around(bits):
    """An input, its encoding, and an output's for values from -2 to 1."""
    x = np.random.default_rng(2).uniform(-1, 2, IMAGE).astype(np.float32)
    encodings = {"x": Encoding.from_range(-1, 2, bits), "y": Encoding.from_range(-2, 1, bits)}
    return {"x": x}, encodings


@pytest.mark.parametrize("widths", [(8, 8), (16, 8), (16, 16)], ids=str)
@pytest.mark.parametrize("signed", [False, True])
@pytest.mark.parametrize("kind", FILTERS)
def test_weighted_layers(kind, signed, widths):
    bits, weight_bits = widths
    if signed and weight_bits == 16:
        pytest.skip("no kernel multiplies signed weights of 16 bits")
    of, attributes, shape = FILTERS[kind]
    weight, axis = constants(shape, 127 if weight_bits == 8 else 32767)
    layer = of(
        name="layer", inputs=("x",), outputs=("y",), weight="w", bias="b", output_channels=6,
        **attributes,
    )  # fmt: skip
    feeds, encodings = around(bits)
    codes, real = judged(
        layer, feeds, {"w": weight, "b": BIAS}, {"w": axis}, encodings, signed=signed
    )
    # Half a code for the rounding; float32 sums of the reference and one step of the preload.
    allowed = 0.5 + 2.0**-8 if bits == 8 else 0.6
    assert np.abs(codes - real).max() <= allowed
    for channel, bias in enumerate(BIAS):
        if channel in DEAD:
            (code,) = np.unique(codes[..., channel])
            assert code == encodings["y"].quantize(np.array([bias]))


@pytest.mark.parametrize("signed", [False, True])
def test_a_whole_tensor_of_tiny_weights(signed):
    """An asymmetric tensor has one step for all channels, which V65 rescales channel by channel."""
    weight = np.random.default_rng(4).uniform(-1e-13, 3e-13, (3, 3, 6, 6)).astype(np.float32)
    tiny = Encoding.from_range(-1e-13, 3e-13, minimum_range=1e-14)
    layer = Convolution(
        name="layer", inputs=("x",), outputs=("y",), weight="w", bias="b", window=WINDOW,
        output_channels=6,
    )  # fmt: skip
    feeds, encodings = around(8)
    given = {"w": weight, "b": BIAS}
    codes, real = judged(layer, feeds, given, {"w": tiny}, encodings, signed=signed)
    assert np.abs(codes - real).max() <= 0.5 + 2.0**-8


@pytest.mark.parametrize("bits", [8, 16])
def test_batch_norm(bits):
    layer = BatchNorm(name="layer", inputs=("x",), outputs=("y",), scale="s", shift="b")
    scale = np.array([1e-12, 0, -1e-13, 1e-9, -1e-9, 0], np.float32)
    feeds, encodings = around(bits)
    codes, real = judged(layer, feeds, {"s": scale, "b": BIAS}, {}, encodings)
    assert np.abs(codes - real).max() <= 0.5 + 2.0**-8


@pytest.mark.parametrize("bits", [8, 16])
@pytest.mark.parametrize("kind", ["deviation", "mean_square", "length"])
def test_normalization(kind, bits):
    layer = Normalization(
        name="layer", inputs=("x",), outputs=("y",), scale="s", shift="b", kind=kind, axes=(3,),
        epsilon=1e-3,
    )  # fmt: skip
    scale = np.array([1e-12, 0, -1e-13, 1e-9, -1e-9, 0], np.float32)
    feeds, encodings = around(bits)
    codes, real = judged(layer, feeds, {"s": scale, "b": BIAS}, {}, encodings)
    assert np.abs(codes - real).max() <= 0.5 + 2.0**-8


@pytest.mark.parametrize("bits", [8, 16])
@pytest.mark.parametrize("kind", ["matrix product", "product"])
def test_constant_factors(kind, bits):
    feeds, encodings = around(bits)
    constant = np.random.default_rng(6).uniform(-1e-13, 3e-13, (1, 5, 6, 3)).astype(np.float32)
    if kind == "product":
        constant = constant[0, 0, :, 0]
        layer = Elementwise(name="layer", inputs=("k", "x"), outputs=("y",), kind="product")
    else:
        layer = MatMul(name="layer", inputs=("x", "k"), outputs=("y",), alpha=0.5)
    encodings["k"] = Encoding.from_range(-1e-13, 3e-13, bits, minimum_range=1e-14)
    codes, real = judged(layer, feeds, {"k": constant}, {}, encodings)
    assert np.abs(codes - real).max() <= 0.5 + 2.0**-8
    assert set(codes.ravel()) == {encodings["y"].zero_point}


POOL = Pooling(
    name="layer", inputs=("x",), outputs=("y",), kind="average", window=Window((2, 2), (1, 1))
)
SUM = Reduce(name="layer", inputs=("x",), outputs=("y",), kind="sum", axes=(1, 2))
PRODUCT = Elementwise(name="layer", inputs=("x", "z"), outputs=("y",), kind="product")
MATRICES = MatMul(name="layer", inputs=("x", "z"), outputs=("y",), transposed=True)
RESIZE = Resize(name="layer", inputs=("x",), outputs=("y",), kind="bilinear", size=(9, 7))
NORM = LocalResponseNorm(
    name="layer", inputs=("x",), outputs=("y",), size=3, alpha=1e-2, beta=0.75, bias=1.0
)


def of_computed(layer, bits, reach):
    """Inputs of up to 2 * `reach` into an output from -2 to 1: the codes, and what is real."""
    (feeds, encodings), two = around(bits), len(layer.inputs) == 2
    names = layer.inputs if two else ("x",)
    for name in names:
        encodings[name] = Encoding.from_range(-reach, 2 * reach, bits, minimum_range=reach)
        feeds[name] = feeds["x"] * reach if name == "x" else feeds["x"]
    return judged(layer, feeds, {}, {}, encodings)


@pytest.mark.parametrize("bits", [8, 16])
@pytest.mark.parametrize("reach", [1e-5, 1e-7, 1e-12])
@pytest.mark.parametrize("layer", [POOL, SUM, PRODUCT, MATRICES, RESIZE, NORM], ids=type)
def test_sums_of_computed_operands_that_hardly_move_the_output(layer, reach, bits):
    codes, real = of_computed(layer, bits, reach)
    assert np.abs(codes - real).max() <= 1


@pytest.mark.parametrize(("layer", "bits", "reach"), [(NORM, 16, 2e-5), (RESIZE, 16, 1e-4)])
def test_an_output_that_is_too_coarse_for_its_sums_is_refused(layer, bits, reach):
    """The sums reach some codes, but not in a unit that leaves room for the zero point."""
    with pytest.raises(HexsimError, match=r"layer 'layer': its output has steps of .* too"):
        of_computed(layer, bits, reach)


@pytest.mark.parametrize("cell", ["lstm", "gru", "rnn"])
def test_recurrent_layers_add_biases_apart_from_products(cell):
    """They have no step that biases must fit, so tiny weights need no rule there."""
    gates = {"lstm": 4, "gru": 3, "rnn": 1}[cell]
    columns, bias = gates * 3, np.full((2, gates * 3), 0.25, np.float32)
    layer = Recurrent(
        name="layer", inputs=("x",), outputs=("y",), weight="w", recurrence="r", bias="b",
        cell=cell, direction="forward", hidden=3,
    )  # fmt: skip
    given = {"w": np.zeros((4, columns), np.float32), "r": np.zeros((3, columns), np.float32)}
    tiny = Encoding.symmetric_of(1e-15)
    feeds = {"x": np.random.default_rng(2).uniform(-1, 2, (5, 1, 4)).astype(np.float32)}
    encodings = {"x": Encoding.from_range(-1, 2), "y": Encoding.from_range(-1, 1)}
    codes, real = judged(layer, feeds, given | {"b": bias}, {"w": tiny, "r": tiny}, encodings)
    assert np.abs(codes - real).max() <= 1.5
