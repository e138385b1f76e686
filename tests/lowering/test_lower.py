from dataclasses import replace

import numpy as np
import pytest

from hexsim.errors import HexsimError
from hexsim.layers import Convolution, Elementwise, LocalResponseNorm, Opaque, Pooling, Window
from hexsim.quantization.encodings import Encoding
from tests.int8.single_layer import lowered, quantized

ENCODING = Encoding.from_range(-1, 1)


def lowered_layer(layer, shape=(1, 4, 4, 2), constants=None, encodings=None, parameters=None):
    """The one call of a network of one layer whose activations all have ENCODING."""
    names = [n for n in (*layer.inputs, *layer.outputs)]
    inputs = {n: shape for n in layer.inputs if n not in (constants or {})}
    given = dict.fromkeys(names, ENCODING) | (encodings or {})
    model = quantized([layer], inputs, constants or {}, given, layer.outputs)
    model = replace(model, parameters={**model.parameters, **(parameters or {})})
    return lowered(model)[1][0]


def convolution(**changes):
    return Convolution(
        name="conv", inputs=("x",), outputs=("y",), weight="w", bias="b", window=Window((1, 1)),
        output_channels=3, **changes,
    )  # fmt: skip


CONSTANTS = {
    "w": np.array([[[[1, -1, 0.5], [0, 1, 0.25]]]], np.float32),
    "b": np.array([0.5, -0.25, 0.1], np.float32),
}


def test_a_bias_without_encoding_is_coded_at_the_accumulators_step():
    call = lowered_layer(convolution(), constants=CONSTANTS)
    step = ENCODING.delta * Encoding.from_range(-1, 1).delta
    zero = np.floor(ENCODING.zero_point * ENCODING.delta / step + 0.5)
    bias = np.floor(CONSTANTS["b"].astype(np.float64) / step + 0.5)
    np.testing.assert_array_equal(call.stage.preload, bias + zero)


def test_an_8_bit_bias_is_made_real_first():
    coarse = Encoding.from_range(-0.25, 0.5, bitwidth=2)
    call = lowered_layer(convolution(), constants=CONSTANTS, parameters={"b": coarse})
    exact = lowered_layer(
        convolution(), constants=CONSTANTS | {"b": np.array([0.5, -0.25, 0.0], np.float32)}
    )
    np.testing.assert_array_equal(call.stage.preload, exact.stage.preload)


def test_a_bias_made_real_is_a_float32():
    """The worked number of the contract: 7 * 0.1 as a float32 lies below 3.5 steps of 0.2."""
    unit = Encoding(8, 0.0, 255.0, delta=1.0, offset=0)
    weight = Encoding(8, 0.0, 51.0, delta=0.2, offset=0)
    bias = Encoding(8, 0.0, 25.5, delta=0.1, offset=0)
    call = lowered_layer(
        convolution(),
        constants={"w": np.zeros((1, 1, 2, 3), np.float32), "b": np.full(3, 0.7, np.float32)},
        encodings={"x": unit, "y": unit},
        parameters={"w": weight, "b": bias},
    )
    np.testing.assert_array_equal(call.stage.preload, [3, 3, 3])


def test_average_pool_has_constants_for_every_count():
    layer = Pooling(
        name="p", inputs=("x",), outputs=("y",), kind="average",
        window=Window((3, 3), (1, 1), (1, 1, 1, 1)),
    )  # fmt: skip
    call = lowered_layer(layer)
    np.testing.assert_array_equal(
        call.entry_of, [[0, 1, 1, 0], [1, 2, 2, 1], [1, 2, 2, 1], [0, 1, 1, 0]]
    )
    np.testing.assert_array_equal(call.means.gain, [36, 24, 16])
    padded = lowered_layer(layer.replace(count_include_pad=True))
    assert padded.entry_of.max() == 0
    np.testing.assert_array_equal(padded.means.gain, call.means.gain[-1:])


def test_ceil_mode_counts_nothing_beyond_the_padding():
    layer = Pooling(
        name="p", inputs=("x",), outputs=("y",), kind="average", count_include_pad=True,
        window=Window((3, 3), (2, 2), (0, 0, 0, 0), ceil_mode=True),
    )  # fmt: skip
    call = lowered_layer(layer)
    assert call.output.shape == (1, 2, 2, 2)
    counts = np.array([4, 6, 9])[call.entry_of]
    np.testing.assert_array_equal(counts, [[9, 6], [6, 4]])


def test_sum_brings_operands_to_the_coarsest_scale():
    layer = Elementwise(name="e", inputs=("x", "z", "z"), outputs=("y",), kind="sum")
    call = lowered_layer(layer, encodings={"x": Encoding.from_range(-3, 1)})
    np.testing.assert_array_equal(call.factors, [16384, 8192, 8192])
    np.testing.assert_array_equal(call.stage.multiplier, [2**18])  # 2 * 2^-14 = 2^-13, no shift


def test_a_constant_operand_carries_its_codes():
    layer = Elementwise(name="e", inputs=("x", "c"), outputs=("y",), kind="product")
    values = np.array([-1, 1], np.float32)
    call = lowered_layer(layer, constants={"c": values})
    assert call.inputs[0].codes is None
    np.testing.assert_array_equal(call.inputs[1].codes, ENCODING.quantize(values))


@pytest.mark.parametrize(
    ("layer", "changes", "sentence"),
    [
        (
            Elementwise(name="e", inputs=("x", "z"), outputs=("y",), kind="sum"),
            {"encodings": {"z": Encoding.from_range(0, 1, bitwidth=16)}},
            "layer 'e' reads 'z' in 16 bits and writes 8; insert a Convert layer",
        ),
        (
            Elementwise(name="e", inputs=tuple("abcd"), outputs=("y",), kind="product"),
            {},
            "layer 'e' multiplies 4 operands",
        ),
        (
            LocalResponseNorm(
                name="n", inputs=("x",), outputs=("y",), size=3, alpha=1.0, beta=0.5, bias=0.0
            ),
            {},
            "layer 'n': the bias of a local response norm is 0.0",
        ),
        (
            Opaque(
                name="o",
                inputs=("x",),
                outputs=("y",),
                op_type="Erf",
                node=b"",
                shapes=((1, 4, 4, 2),),
            ),
            {},
            r"layer 'o' \(Erf\) has no integer kernel",
        ),
    ],
)
def test_what_cannot_be_bound_is_refused(layer, changes, sentence):
    with pytest.raises(HexsimError, match=sentence):
        lowered_layer(layer, **changes)


def test_a_tensor_without_encoding_is_refused():
    layer = Elementwise(name="e", inputs=("x", "z"), outputs=("y",), kind="sum")
    model = quantized([layer], {"x": (2,), "z": (2,)}, {}, {"x": ENCODING, "y": ENCODING}, ["y"])
    with pytest.raises(HexsimError, match="layer 'e': tensor 'z' has no encoding"):
        lowered(model)
