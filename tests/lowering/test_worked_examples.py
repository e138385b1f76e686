"""The worked integers of docs/reference/arithmetic.md."""

import math
from types import SimpleNamespace

import numpy as np
import pytest

from hexsim.int8.dispatch import prepare
from hexsim.layers import (
    ArgExtremum,
    BatchNorm,
    Elementwise,
    LocalResponseNorm,
    Neuron,
    Normalization,
    Pad,
    Prelu,
    Recurrent,
    Reduce,
    Softmax,
)
from hexsim.lowering.elementwise import lower_quotient
from hexsim.lowering.functions import lower_neuron, lower_prelu, polynomial_values
from hexsim.lowering.images import means_of_codes, scaled_means
from hexsim.lowering.local_response_norm import (
    logarithm_parabolas,
    lower_interpolated_norm,
    lower_local_response_norm,
    power_knots,
)
from hexsim.lowering.lowered_call import CallOperands, Operand
from hexsim.lowering.normalization import (
    coefficients,
    lower_batch_norm,
    lower_normalization,
    lower_softmax,
)
from hexsim.lowering.recurrent import lower_recurrent
from hexsim.lowering.reduce import lower_arg_extremum, lower_reduce
from hexsim.lowering.requantize import common_scale, requantize, rescale_table
from hexsim.lowering.source import QuantizedSource, Weights
from hexsim.quantization.encodings import Encoding
from tests.int8 import naive
from tests.int8.single_layer import execute


def encoding(delta, zero_point):
    return Encoding(8, -zero_point * delta, (255 - zero_point) * delta, delta, -zero_point)


class Between:
    """A source whose layers all read `x` and write `y`."""

    own_functions = True
    is_own = QuantizedSource.is_own

    def __init__(self, shape, x, y):
        self.tensors = (Operand("x", shape, x),), Operand("y", shape, y)

    def operands(self, layer):
        return CallOperands(layer.name, *self.tensors)


def result(call, codes):
    output = np.empty(call.output.shape, np.uint8)
    execute(prepare(call), [np.array(codes, np.uint8).reshape(call.output.shape)], output)
    return output.ravel().tolist()


def test_convolution():
    stage = requantize(0.01 * 0.005, encoding(0.025, 40), bias=np.array([0.25]))
    assert (stage.multiplier[0], stage.shift[0], stage.preload[0]) == (4294967, 0, 5000 + 20000)
    assert stage.apply(np.array([30400])) == 61


def test_sixteen_bits():
    x, z = np.array([50000, 9000, 11000]), 10000
    w = np.array([200, 60, 255]) - 100
    high, low = ((x >> 8) - (z >> 8)) @ w, ((x & 255) - (z & 255)) @ w
    assert (high, low) == (16225, 41400)
    output = Encoding(16, -1.0, 15.38375, 0.00025, -4000)
    stage = requantize(0.0001 * 0.005, output, bias=np.array([0.25]), fraction_bits=8)
    assert (stage.multiplier[0], stage.shift[0], stage.preload[0]) == (1099511628, 0, 2500000)
    accumulator = 2500000 + 256 * high + low
    assert (accumulator, accumulator >> 8, accumulator % 256) == (6695000, 26152, 88)
    assert 88 * 1099511628 >> 24 == 5767
    assert (26152 * 1099511628 + (5767 << 16) + 2**30) >> 31 == 13390
    assert stage.apply(np.array([accumulator])) == 13390


def test_average_pooling():
    at_edge = means_of_codes(np.array([6]), 9, 0)
    assert (at_edge.gain[0] / 2.0 ** at_edge.right[0], at_edge.factor[0]) == (
        3 * 2**23 / 2**21,
        29127,
    )
    assert at_edge.apply(np.array([63, 62]), np.int32(0)).tolist() == [11, 10]
    whole = scaled_means(np.array([0.1 / 49]), encoding(0.02, 10))
    assert (whole.factor[0], whole.offset[0], whole.last[0] - 1) == (26749, 196, 3)
    assert (2 * 980 + 196) * 26749 + 2**14 >> 15 == 1760
    assert whole.apply(np.array([980]), np.int32(0)) == 110


def test_matrix_product():
    stage = requantize(0.125 * 0.02 * 0.05, encoding(0.01, 30))
    assert (stage.multiplier[0], stage.shift[0], stage.preload[0]) == (26843546, 0, 2400)
    products = (np.array([150, 90, 110]) - 100) @ (np.array([40, 10, 120]) - 20)
    assert products == 2100
    assert stage.apply(np.array([2400 + products])) == 56


def test_reduce():
    x, y = encoding(0.1, 5), encoding(0.25, 10)
    source = Between((3,), x, y)
    source.tensors = (Operand("x", (3,), x),), Operand("y", (1,), y)
    made = {}
    for kind in ("sum", "mean"):
        layer = Reduce(name="r", inputs=("x",), outputs=("y",), kind=kind, axes=(0,))
        call = lower_reduce(layer, source)
        output = np.empty(1, np.uint8)
        execute(prepare(call), [np.array([20, 30, 10], np.uint8)], output)
        stage = call.stage
        made[kind] = (stage.multiplier[0], stage.shift[0], stage.preload[0], output[0])
    assert made == {"sum": (858993459, 0, 25, 28), "mean": (286331153, 0, 75, 16)}
    assert 8421504 * 255 < 2**31 <= 8421505 * 255


def test_places():
    x, y = encoding(0.1, 5), encoding(1.0, 0)
    source = Between((4,), x, y)
    source.tensors = (Operand("x", (4,), x),), Operand("y", (1,), y)
    for kind, place in (("max", 1), ("min", 3)):
        layer = ArgExtremum(name="a", inputs=("x",), outputs=("y",), kind=kind, axis=0)
        output = np.empty(1, np.uint8)
        codes = [np.array([7, 9, 9, 3], np.uint8)]
        execute(prepare(lower_arg_extremum(layer, source)), codes, output)
        assert output[0] == place


def test_pad():
    expected = {
        "reflect": [3, 2, 1, 2, 3, 4, 3],
        "edge": [1, 1, 1, 2, 3, 4, 4],
        "wrap": [3, 4, 1, 2, 3, 4, 1],
    }
    for mode, codes in expected.items():
        layer = Pad(name="p", inputs=("x",), outputs=("y",), begins=(2,), ends=(1,), mode=mode)
        assert [(1, 2, 3, 4)[at] for at in layer.positions(0, 4)] == codes


def test_quotient():
    x, w, y = encoding(0.1, 0), encoding(0.02, 10), encoding(0.05, 20)
    layer = Elementwise(name="d", inputs=("x", "w"), outputs=("y",), kind="div")
    operands = (Operand("x", (1,), x), Operand("w", (1,), w))
    call = lower_quotient(layer, operands, Operand("y", (1,), y))
    assert (call.scale, call.shift) == (838860800, 23)
    assert (62 * 838860800 + 70 * 2**23) // (140 * 2**23) == 44
    output = np.empty(1, np.uint8)
    execute(prepare(call), [np.array([31], np.uint8), np.array([80], np.uint8)], output)
    assert output[0] == 64


def test_average():
    stage = requantize(0.1 / np.array([1, 4]), encoding(0.1, 0))
    np.testing.assert_array_equal(stage.multiplier, [2**30, 2**29])
    np.testing.assert_array_equal(stage.shift, [1, 0])
    np.testing.assert_array_equal(stage.apply(np.array([[15, 61], [16, 62]])), [[15, 15], [16, 16]])


def test_sum():
    factors, step = common_scale([0.1, 0.025], encoding(0.05, 20))
    np.testing.assert_array_equal(factors, [16384, 4096])
    stage = requantize(step, encoding(0.05, 20))
    assert (stage.multiplier[0], stage.shift[0], stage.preload[0]) == (262144, 0, 163840)
    assert stage.apply(np.array([163840 + 16384 * 30 - 4096 * 40])) == 60


def test_rescale():
    x, y = Operand("x", (1,), encoding(0.02, 10)), encoding(0.05, 0)
    assert common_scale([x.delta], y)[0] == [6554]
    assert rescale_table(x, y)[60] == 20


def test_local_response_norm():
    layer = LocalResponseNorm(
        name="n", inputs=("x",), outputs=("y",), size=5, alpha=5e-5, beta=0.75, bias=1.0
    )
    source = Between((1, 2), encoding(1.0, 0), encoding(1.0, 0))
    call = lower_local_response_norm(layer, source)
    assert (call.kappa, call.beta, call.sigma) == (100000, 24576, -408199)
    assert naive.parabola(logarithm_parabolas(), 13 * 2048 + 608, 2) == 28595
    assert -408199 + 24576 * 16 - ((2**14 - 24576 * 28595) >> 15) == 6463
    assert naive.parabola(coefficients(), 6463, 1) == 28581
    assert (28581 * 100 >> 12) + 4 >> 3 == 87
    assert result(call, [100, 100]) == [87, 87]
    _, (x,), y = source.operands(layer)
    call = lower_interpolated_norm(layer, x, y)
    np.testing.assert_array_equal(power_knots(5 * 255**2)[590:592], [19968, 20224])
    np.testing.assert_array_equal(call.powers[590:592], [114344, 114162])
    assert 114344 + ((-182 * 32 + 128) >> 8) == 114321
    assert (call.stage.multiplier[0], call.stage.shift[0]) == (1073733771, 0)
    assert result(call, [100, 100]) == [87, 87]


def test_normalization():
    layer = Normalization(
        name="norm", inputs=("x",), outputs=("y",), kind="deviation", axes=(1,), epsilon=0.01
    )
    call = lower_normalization(layer, Between((1, 4), encoding(0.1, 20), encoding(0.02, 128)))
    assert (call.epsilon, call.factors.tolist()) == (16, [32767])
    d, w = np.array([-80, -40, 0, 120]), 4 * 1800 - 40**2 + 16
    root = math.isqrt(w << 48)
    assert (w, root, 2**61 // root) == (5616, 1257284164, 1833987156)
    t = (d * 1833987156 + 2**16) >> 17
    assert t.tolist() == [-1119377, -559688, 0, 1679065]
    assert call.stage.apply(call.stage.preload + 32767 * t).tolist() == [75, 101, 128, 208]
    assert result(call, [10, 20, 30, 60]) == [75, 101, 128, 208]


def test_recurrent():
    def columns(name, layer, source):
        codes, step = {"w": ([100, 50, -20, 80], 0.005), "r": ([60, 10, 30, -50], 0.004)}[name]
        return Weights(np.array([codes], np.int8), 0, np.full(4, step))

    x, y = encoding(0.01, 100), encoding(1 / 128, 128)
    layer = Recurrent(
        name="n", inputs=("x", "h", "c"), outputs=("y",), cell="lstm", hidden=1,
        initial=("hidden", "cell"), weight="w", recurrence="r",
    )  # fmt: skip
    source = Between((1, 1, 1), x, y)
    source.tensors = (
        (Operand("x", (1, 1, 1), x), Operand("h", (1, 1, 1), y), Operand("c", (1, 1, 1), y)),
        Operand("y", (1, 1, 1, 1), y),
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("hexsim.lowering.recurrent.lower_weights", columns)
        call = lower_recurrent(layer, source)
    assert (call.of_input.multiplier[0], call.of_input.shift[0]) == (13743895, 18)
    assert (call.of_output.multiplier[0], call.of_output.shift[0]) == (8388608, 46)
    output = np.empty((1, 1, 1, 1), np.uint8)
    given = [np.array([[[code]]], np.uint8) for code in (150, 160, 192)]
    execute(prepare(call), given, output)
    assert output.item() == 150


def test_softmax():
    layer = Softmax(name="s", inputs=("x",), outputs=("y",), axes=(1,))
    call = lower_softmax(layer, Between((1, 3), encoding(0.1, 0), encoding(1 / 255, 0)))
    assert (call.powers[[0, 10]].tolist(), call.shares[[0, 10]].tolist()) == (
        [536854528, 197500928],
        [32767, 12055],
    )
    assert call.sum_bits == 2
    assert result(call, [10, 20, 20]) == [40, 108, 108]


def test_softmax_of_16_bits():
    layer = Softmax(name="s", inputs=("x",), outputs=("y",), axes=(1,))
    x, y = (Encoding(16, 0, delta * 65535, delta, 0) for delta in (0.1, 1 / 256))
    call = lower_softmax(layer, Between((1, 3), x, y))
    assert (call.exponentials[0], call.exponentials[10], call.scale) == (8388608, 3085996, 2**24)
    output = np.empty((1, 3), np.uint16)
    execute(prepare(call), [np.array([[10, 20, 20]], np.uint16)], output)
    assert output.tolist() == [[40, 108, 108]]


class WithConstants(Between):
    """The same with constants, none of which has an encoding."""

    def __init__(self, shape, x, y, **constants):
        super().__init__(shape, x, y)
        self.real = lambda name: np.array(constants[name], np.float64)
        self.model = SimpleNamespace(parameters={})


@pytest.mark.parametrize(
    ("function", "output", "codes"),
    [("tanh", (1 / 127, 127), [224, 43]), ("sigmoid", (1 / 255, 0), [186, 79])],
)
def test_sigmoid_and_tanh(function, output, codes):
    layer = Neuron(name="n", inputs=("x",), outputs=("y",), function=function)
    call = lower_neuron(layer, Between((1, 2), encoding(0.02, 100), encoding(*output)))
    assert result(call, [150, 60]) == codes
    assert polynomial_values("tanh", np.array([10240, 8192])).tolist() == [24761, 21590]
    assert polynomial_values("sigmoid", np.array([5120])).tolist() == [15083]


def test_prelu():
    source = WithConstants((2, 2), encoding(0.02, 100), encoding(0.025, 60), s=[0.25, -1.5])
    layer = Prelu(name="p", inputs=("x",), outputs=("y",), slope="s")
    assert result(lower_prelu(layer, source), [150, 150, 60, 60]) == [100, 100, 52, 108]


def test_batch_norm():
    constants = {"s": [0.5, -2.0], "b": [0.3, -0.2]}
    source = WithConstants((1, 2), encoding(0.02, 100), encoding(0.025, 60), **constants)
    layer = BatchNorm(name="b", inputs=("x",), outputs=("y",), scale="s", shift="b")
    call = lower_batch_norm(layer, source)
    assert (call.factors.tolist(), call.stage.preload.tolist()) == (
        [6554, -26214],
        [1179684, 851981],
    )
    assert (call.stage.multiplier.tolist(), call.stage.shift.tolist()) == ([2**17] * 2, [0, 0])
    assert result(call, [150, 150]) == [92, 0]
