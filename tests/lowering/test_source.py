import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hexsim.errors import HexsimError
from hexsim.graph.ir import Constant, Network
from hexsim.layers import FullyConnected
from hexsim.lowering.source import QuantizedSource, lower_weights, signed_weights
from hexsim.quantization.encodings import AxisEncoding, Encoding
from hexsim.quantization.model import Model

LAYER = FullyConnected(name="fc", inputs=("x",), outputs=("y",), weight="w", output_channels=3)


def source(weight, parameters, *, signed):
    constants = {"w": Constant("w", weight.shape, weight)}
    network = Network("n", (LAYER,), {}, constants, (), ())
    model = Model(network, {}, parameters, quantized=True)
    if signed:
        return QuantizedSource(model, frozenset({LAYER.name}), widest_weights=8)
    return QuantizedSource(model)


WEIGHT = np.array([[1.0, 0.0, -0.5], [-0.25, 0.0, 2.0]], np.float32)
ASYMMETRIC = Encoding.from_range(-0.5, 2.0)


def test_unsigned_kernels_take_asymmetric_codes_as_they_are():
    weights = lower_weights("w", LAYER, source(WEIGHT, {"w": ASYMMETRIC}, signed=False))
    assert weights.codes.dtype == np.uint8
    assert weights.zero_point == 51
    np.testing.assert_array_equal(weights.codes, ASYMMETRIC.quantize(WEIGHT))
    np.testing.assert_array_equal(weights.steps, [ASYMMETRIC.delta] * 3)


def test_signed_kernels_take_distances_and_scale_channels_that_do_not_fit():
    weights = lower_weights("w", LAYER, source(WEIGHT, {"w": ASYMMETRIC}, signed=True))
    assert weights.codes.dtype == np.int8
    assert weights.zero_point == 0
    # Distances from the zero point are [[102, 0, -51], [-25, 0, 204]] (-0.25 is a tie).
    # K = floor(32639 / 204) = 159; -51 * 159 + 128 >> 8 = -32, 204 * 159 + 128 >> 8 = 127.
    np.testing.assert_array_equal(weights.codes, [[102, 0, -32], [-25, 0, 127]])
    np.testing.assert_array_equal(weights.steps, ASYMMETRIC.delta * np.array([1, 1, 256 / 159]))


def test_layers_of_other_names_keep_their_codes():
    model = source(WEIGHT, {"w": ASYMMETRIC}, signed=False).model
    weights = lower_weights("w", LAYER, QuantizedSource(model, frozenset({"another"})))
    assert (weights.codes.dtype, weights.zero_point) == (np.uint8, 51)


@pytest.mark.parametrize(
    ("zero_point", "codes", "signed", "factor"),
    [
        (126, [0, 255], [-125, 127], 253),  # 129 above: floor(32639 / 129)
        (126, [0, 254], [-126, 127], 256),  # 128 above is clamped
        (127, [0, 255], [-127, 127], 256),
        (128, [0, 255], [-128, 127], 256),
        (129, [0, 255], [-128, 126], 256),
        (130, [0, 255], [-128, 124], 253),  # 130 below: floor(32895 / 130)
        (130, [1, 255], [-128, 125], 256),  # 129 below is clamped
        (255, [0, 255], [-128, 0], 129),
        (0, [0, 255], [0, 127], 127),
    ],
)
def test_the_limits_of_the_rule(zero_point, codes, signed, factor):
    encoding = Encoding(8, -0.1 * zero_point, 0.1 * (255 - zero_point), 0.1, -zero_point)
    weights = signed_weights(np.array(codes, np.uint8)[:, None], encoding)
    assert weights.codes.ravel().tolist() == signed
    assert weights.steps == 0.1 * (256 / factor)


@pytest.mark.parametrize("signed", [False, True])
def test_symmetric_codes_stay(signed):
    tensor = Encoding.symmetric_of(2.0)
    weights = lower_weights("w", LAYER, source(WEIGHT, {"w": tensor}, signed=signed))
    np.testing.assert_array_equal(weights.codes, tensor.quantize(WEIGHT))
    axis = AxisEncoding(tuple(Encoding.symmetric_of(limit) for limit in (1.0, 0.01, 2.0)))
    weights = lower_weights("w", LAYER, source(WEIGHT, {"w": axis}, signed=signed))
    np.testing.assert_array_equal(weights.codes, [[127, 0, -32], [-32, 0, 127]])
    np.testing.assert_array_equal(weights.steps, axis.deltas)


@given(st.integers(0, 255), st.integers(0, 2**32 - 1))
def test_signed_weights_stay_close(zero_point, seed):
    """Half a step by rounding, a whole one by clamping, and what K in whole numbers costs."""
    codes = np.random.default_rng(seed).integers(0, 256, (7, 4), np.uint8)
    codes[:, 0] = zero_point  # a dead channel
    codes[:, 1] = [zero_point] * 6 + [0 if zero_point else 1]
    encoding = Encoding(8, -0.1 * zero_point, 0.1 * (255 - zero_point), 0.1, -zero_point)
    weights = signed_weights(codes, encoding)
    real = 0.1 * (codes.astype(np.float64) - zero_point)
    error = np.abs(weights.codes * weights.steps - real)
    assert (error <= weights.steps * np.where(weights.steps == 0.1, 1, 0.5) * (1 + 1e-9)).all()
    assert (weights.codes[:, 0] == 0).all()
    assert weights.steps[0] == pytest.approx(0.1)


def test_many_weights_become_signed_as_a_few_do():
    codes = np.random.default_rng(1).integers(0, 256, (3, 900, 400), np.uint8)
    encoding = Encoding(8, -5.1, 20.4, 0.1, -51)
    weights = signed_weights(codes, encoding)
    for channel in range(0, 400, 57):
        alone = signed_weights(codes[..., channel : channel + 1], encoding)
        np.testing.assert_array_equal(weights.codes[..., channel], alone.codes[..., 0])
        assert weights.steps[channel] == alone.steps[0]


def test_weights_without_codes_are_refused():
    with pytest.raises(HexsimError, match="layer 'fc': weight 'w' has no encoding"):
        lower_weights("w", LAYER, source(WEIGHT, {}, signed=False))
    wide = Encoding.from_range(-0.5, 2.0, bitwidth=16)
    with pytest.raises(HexsimError, match="weight 'w' has 16-bit codes; quantise weights to 8"):
        lower_weights("w", LAYER, source(WEIGHT, {"w": wide}, signed=True))
    wider = Encoding.from_range(-0.5, 2.0, bitwidth=32)
    with pytest.raises(HexsimError, match="weight 'w' has 32-bit codes; quantise weights to 16"):
        lower_weights("w", LAYER, source(WEIGHT, {"w": wider}, signed=False))


@pytest.mark.parametrize("symmetric", [False, True])
def test_16_bit_weights_are_taken_as_they_are(symmetric):
    encoding = Encoding.symmetric_of(2.0, 16) if symmetric else Encoding.from_range(-0.5, 2, 16)
    weights = lower_weights("w", LAYER, source(WEIGHT, {"w": encoding}, signed=False))
    assert (weights.bits, weights.codes.dtype) == (16, encoding.dtype)
    real = (weights.codes.astype(np.float64) - weights.zero_point) * weights.steps
    np.testing.assert_allclose(real, WEIGHT, atol=encoding.delta / 2)
