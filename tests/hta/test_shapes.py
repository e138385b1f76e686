from __future__ import annotations

from dataclasses import replace

from hypothesis import given

from hexsim.hta.layout import tensor_bytes
from hexsim.hta.shapes import MacShape
from hexsim.planning.plan import KernelCall
from tests.hta.shapes import calls, conv_call, mac_shape
from tests.small_networks import Sketch, only_call


@given(calls())
def test_the_loop_nest_is_the_layer(call: KernelCall) -> None:
    shape = mac_shape(call)
    taps = shape.kernel[0] * shape.kernel[1]
    assert shape.rows * shape.width * shape.channels * shape.depth * taps == call.macs
    everything = shape.output_bytes(shape.rows, shape.channels)
    assert everything == tensor_bytes(call.results[0], call.activation_bits)
    # a stride past the last row leaves rows unread
    source = tensor_bytes(call.operands[0], call.input_bits)
    assert shape.input_bytes(shape.rows) <= source
    if shape.row_step == 1:
        assert shape.input_bytes(shape.rows) == source


def test_rows_share_the_inputs_that_their_windows_share() -> None:
    shape = mac_shape(conv_call(size=(20, 20), channels=32, outputs=32, kernel=3))
    row = 20 * 32
    assert [shape.input_bytes(rows) for rows in (1, 2, 20)] == [3 * row, 4 * row, 20 * row]


def test_weights_of_four_bits_are_half_the_bytes_and_biases_stay() -> None:
    call = conv_call(size=(4, 4), channels=32, outputs=8)
    half = mac_shape(replace(call, weight_bits=4))
    assert mac_shape(call).weight_bytes(8, 32) == 8 * (32 + 4)
    assert half.weight_bytes(8, 32) == 8 * (16 + 4)


def test_a_deconvolution_is_the_convolution_of_its_phases() -> None:
    net = Sketch((1, 8, 8, 32))
    shape = MacShape.of(only_call(net, net.deconv("in", 24, kernel=4)), 2048)
    assert shape is not None
    assert (shape.rows, shape.width, shape.channels) == (9, 9, 4 * 24)
    assert (shape.kernel, shape.depth, shape.row_step) == ((2, 2), 32, 1)


def test_a_layer_without_weights_is_no_loop_nest() -> None:
    net = Sketch((1, 8, 8, 32))
    assert MacShape.of(only_call(net, net.pool("in")), 2048) is None
