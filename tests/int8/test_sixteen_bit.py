"""16 bits end to end: long sums of extremes, accuracy against float, mixed widths, every layer.

Bytes of codes, zero points and weights put together again are what they came from.
"""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import hexsim
from hexsim.graph.ir import Constant
from hexsim.int8.sixteen_bit import byte_codes, byte_operands, byte_weights
from hexsim.layers import Convert, Window
from hexsim.lowering import Operand, Weights
from hexsim.lowering.products import LoweredConvolution, LoweredFullyConnected
from hexsim.lowering.requantize import requantize
from hexsim.onnx_io.float_engine import FloatEngine
from hexsim.quantization.encodings import Encoding
from hexsim.quantization.float_layers import with_conversions
from hexsim.quantization.model import Model
from hexsim.quantization.options import QuantizationOptions
from hexsim.quantization.quantizer import quantize
from tests.deployed import deployed
from tests.int8.drawn import (
    BITS,
    CODES,
    arrays,
    assert_equals_reference,
    encoding,
    operands,
    weights,
)
from tests.small_networks import Sketch
from tests.thorough import examples

BOTH = ("", "portable")


@pytest.mark.parametrize("weight", ["lowest", "highest", "alternating"])
@pytest.mark.parametrize("dtype", [np.uint8, np.int8, np.uint16, np.int16])
@pytest.mark.parametrize("code", [0, 65535])
def test_long_sums_of_extremes(weight, dtype, code):
    depth, channels, info = 4099, 19, np.iinfo(dtype)
    codes = np.full((1, 1, depth, channels), info.max if weight == "highest" else info.min, dtype)
    if weight == "alternating":
        codes[:, :, 1::2] = info.max
    zero = 0 if info.min else info.max // 2
    x = Operand("x", (1, 1, 2, depth), encoding(65535 - code, 1e-4, 16))
    y = Operand("y", (1, 1, 2, channels), encoding(30000, 20.0, 16))
    weights = Weights(codes, zero, np.full(channels, 0.01))
    stage = requantize(1e-6 * np.arange(1, 1 + channels), y.encoding, fraction_bits=weights.bits)
    call = LoweredConvolution(
        layer="conv",
        inputs=(x,),
        output=y,
        weights=weights,
        window=Window((1, 1)),
        groups=1,
        stage=stage,
    )
    assert_equals_reference(call, [np.full(x.shape, code, np.uint16)], BOTH)


def test_accumulators_of_bytes_wrap_modulo_2_to_32():
    depth = 33026  # 255 * 255 * depth > 2^31
    x, y = (Operand(n, s, encoding(0, bits=16)) for n, s in (("x", (1, depth)), ("y", (1, 1))))
    weights = Weights(np.full((depth, 1), 255, np.uint8), 0, np.ones(1))
    stage = requantize(1e-4, y.encoding, fraction_bits=8)
    call = LoweredFullyConnected(layer="fc", inputs=(x,), output=y, weights=weights, stage=stage)
    assert_equals_reference(call, [np.full((1, depth), 65535, np.uint16)])


def _network():
    """Every family of layers that a convolutional net has, 16 x 16 images."""
    net = Sketch((1, 16, 16, 3))
    last = net.conv("in", 16, 3)
    last = net.depthwise(net.conv(last, 16))
    branch = net.pool(last, "average", 3)
    last = net.add(hexsim.layers.Elementwise, net.conv(last, 16, 3), branch, kind="sum")
    last = net.pool(net.add(hexsim.layers.Neuron, last, function="tanh"), "max", 2, 2)
    last = net.add(hexsim.layers.Concat, last, net.conv(last, 8), axis=3)
    return net.dense(last, 10), net


def _with_weights(output, net):
    rng = np.random.default_rng(5)
    constants = {}
    for name, known in net.constants.items():
        fan_in = np.prod(known.shape[:-1])
        values = rng.normal(0, fan_in**-0.5, known.shape).astype(np.float32)
        constants[name] = Constant(name, known.shape, values)
    net.constants = constants
    return net.network(output)


@pytest.fixture(scope="module")
def network():
    return _with_weights(*_network())


@pytest.fixture(scope="module")
def inputs():
    rng = np.random.default_rng(6)
    return [{"in": rng.normal(0, 1, (1, 16, 16, 3)).astype(np.float32)} for _ in range(6)]


def _rounded_weights(model):
    """The float network with the weights that the codes stand for."""
    constants = dict(model.network.constants)
    for name, known in model.parameters.items():
        real = known.dequantize(model.codes(name))
        constants[name] = Constant(name, real.shape, real)
    return model.network.with_layers(model.network.layers, constants=constants.values())


def _sqnr(model, inputs, chip, runtime, reference):
    run = deployed(model, runtime, chip).executor().run
    engine = FloatEngine(reference)
    signal = noise = 0.0
    for feed in inputs:
        (expected,), (got,) = engine.run(feed).values(), run(feed).values()
        signal += float(np.sum(expected.astype(float) ** 2))
        noise += float(np.sum((got - expected.astype(float)) ** 2))
    return 10 * np.log10(signal / noise)


@pytest.mark.parametrize("axis", [False, True])
def test_activations_of_16_bits_are_far_nearer_to_float(network, inputs, axis):
    sqnrs_db = {}
    for bits in (8, 16):
        options = QuantizationOptions(
            activation_bits=bits, axis_weights=axis, symmetric_weights=True, bias_bits=32
        )
        # Calibrated with the weights that run, so that nothing but activations is rounded.
        rounded = _rounded_weights(quantize(network, inputs, options))
        model = quantize(rounded, inputs, options)
        reference = _rounded_weights(model)
        sqnrs_db[bits] = _sqnr(model, inputs, "sd865", "dsp", reference)
    assert sqnrs_db[16] > sqnrs_db[8] + 40
    assert sqnrs_db[16] > 75


def test_weights_of_16_bits_follow_the_float_network_itself(network, inputs):
    def sqnr(**options):
        model = quantize(network, inputs, QuantizationOptions(**options))
        return _sqnr(model, inputs, "sd855", "fxp_cpu", network)

    narrow = sqnr(activation_bits=16)
    assert sqnr(activation_bits=16, weight_bits=16) > narrow + 20
    assert sqnr(activation_bits=16, weight_bits=16, axis_weights=True) > narrow + 20
    assert sqnr(weight_bits=16) > sqnr()


def test_mixed_widths_run_with_conversions_in_between(network, inputs):
    model = quantize(network, inputs, QuantizationOptions(symmetric_weights=True))
    wide = [layer.output for layer in network.layers[2:5]]
    changed = {
        name: Encoding.from_range(e.min, e.max, 16) if name in wide else e
        for name, e in model.activations.items()
    }
    mixed = with_conversions(Model(network, changed, model.parameters, quantized=True))
    conversions = [layer for layer in mixed.network.layers if isinstance(layer, Convert)]
    assert {mixed.activations[conversion.output].bitwidth for conversion in conversions} == {8, 16}
    result = deployed(mixed, "dsp", "sd865").simulate()
    rows = {row.name: row for row in result.layers}
    for layer in conversions:
        assert rows[layer.name].type == "convert"
        assert rows[layer.name].duration_ps > 0
        assert rows[layer.name].cost_model == "kernel"
    reference = _rounded_weights(model)
    plain = _sqnr(model, inputs, "sd865", "dsp", reference)
    assert _sqnr(mixed, inputs, "sd865", "dsp", reference) > plain


def test_16_bits_take_longer_and_move_more(network, inputs):
    models = [
        quantize(network, inputs, QuantizationOptions(activation_bits=bits)) for bits in (8, 16)
    ]
    narrow, wide = (deployed(model, "dsp", "sd865").simulate() for model in models)
    assert wide.total_ps > narrow.total_ps
    for row, other in zip(narrow.layers, wide.layers, strict=True):
        assert other.packets >= row.packets
        assert other.l2_bytes > row.l2_bytes
        assert (row.macs, row.name) == (other.macs, other.name)


@given(st.data())
@examples(60)
def test_operands(data):
    bits = data.draw(BITS)
    x = data.draw(operands((3, 4), bits=bits))
    codes = data.draw(arrays((3, 4), CODES[bits]))
    parts = byte_operands(x)
    assert len(parts) == bits // 8
    together = np.zeros((3, 4))
    for byte, part in parts:
        assert part.bits == 8
        as_bytes = byte_codes(codes, byte)
        assert as_bytes.flags.c_contiguous
        assert as_bytes.dtype == np.uint8
        together += part.delta * (as_bytes.astype(float) - part.zero_point)
    np.testing.assert_allclose(together, x.delta * (codes.astype(float) - x.zero_point), atol=1e-6)


@given(weights((3, 5)))
@examples(60)
def test_weights(whole):
    together = np.zeros((3, 5))
    for byte, part in byte_weights(whole):
        assert (part.bits, whole.bits > 8 * byte) == (8, True)
        together += part.steps * (part.codes.astype(float) - part.zero_point)
    np.testing.assert_array_equal(together, whole.codes.astype(float) - whole.zero_point)


@pytest.mark.parametrize("dtype", [np.uint16, np.int16])
def test_worked_example(dtype):
    codes = np.array([1, 256, 0x7FFF, -2 if dtype == np.int16 else 0xFFFE], dtype)
    np.testing.assert_array_equal(byte_codes(codes, 0), [1, 0, 255, 254])
    high = [0, 1, 127, -1 if dtype == np.int16 else 255]
    np.testing.assert_array_equal(byte_codes(codes, 1), high)
