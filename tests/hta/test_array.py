"""The clocks of the array against lanes that are filled one by one."""

from __future__ import annotations

from dataclasses import replace
from itertools import groupby

from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from hexsim.hta.array import MacArray, MacShape
from hexsim.hta.layout import tensor_bytes
from hexsim.planning.plan import KernelCall
from tests.hta.shapes import ARRAY, HTA, WELL_FED, calls, conv_call, mac_shape
from tests.small_networks import Sketch, only_call
from tests.thorough import examples

SMALL = MacArray(
    depth_lanes=4,
    channel_lanes=8,
    pixel_lanes=3,
    stage_bytes_per_clk=16,
    feed_bytes_per_clk=1e9,
    int16_rate=0.5,
)


def counted_clocks(call: KernelCall, array: MacArray) -> tuple[int, int]:
    """Fill the lanes step by step; return clocks and multiply-accumulates."""
    shape = mac_shape(call)
    per_group = shape.channels // shape.groups
    # the channels that the array may take at once: all share their inputs, or are depthwise
    owners = [0 if shape.depthwise else c // per_group for c in range(shape.channels)]
    height, width = shape.kernel
    if shape.depthwise:
        rows = [[(y, x) for x in range(width)] for y in range(height)]
    else:
        rows = [
            [(y, x, d) for d in range(shape.depth)] for y in range(height) for x in range(width)
        ]
    clocks = macs = 0
    for _ in range(shape.rows):
        for first in range(0, shape.width, array.pixel_lanes):
            pixels = min(array.pixel_lanes, shape.width - first)
            for _, group in groupby(owners):
                left = len(list(group))
                while left:
                    channels = min(left, array.channel_lanes)
                    left -= channels
                    for row in rows:
                        for start in range(0, len(row), array.depth_lanes):
                            clocks += 1
                            taps = len(row[start : start + array.depth_lanes])
                            macs += pixels * channels * taps
    return clocks, macs


@examples(60)
@given(calls(), st.sampled_from([WELL_FED, SMALL]))
def test_clocks_are_those_of_lanes_filled_one_by_one(call: KernelCall, array: MacArray) -> None:
    shape = mac_shape(call)
    clocks, macs = counted_clocks(call, array)
    assert macs == call.macs
    counted = array.clocks(
        shape, rows=shape.rows, channels=shape.channels, depth=shape.depth, bits=8
    )
    assert counted == clocks
    assert counted * array.macs_per_clk >= call.macs


def test_a_full_array_reaches_its_peak_and_a_narrow_image_a_lane_of_it() -> None:
    full = conv_call(size=(10, 3 * 4), channels=64, outputs=64)
    narrow = conv_call(size=(3 * 4 * 10, 1), channels=64, outputs=64)
    wanted = {"channels": 64, "depth": 64, "bits": 8}
    clocks = WELL_FED.clocks(mac_shape(full), rows=10, **wanted)
    assert clocks * WELL_FED.macs_per_clk == full.macs == narrow.macs
    assert WELL_FED.clocks(mac_shape(narrow), rows=120, **wanted) == clocks * WELL_FED.pixel_lanes


def test_depthwise_fills_depth_lanes_with_the_taps_of_a_row() -> None:
    call = conv_call(size=(4, 3), channels=32, outputs=32, kernel=3, groups=32)
    # 4 rows of one pixel group, 3 rows of taps each, one pass over the channels
    assert WELL_FED.clocks(mac_shape(call), rows=4, channels=32, depth=1, bits=8) == 4 * 3


def test_sixteen_bits_take_as_long_as_the_chip_says() -> None:
    shape = mac_shape(conv_call(size=(8, 8), channels=32, outputs=32))
    eight, sixteen = (
        WELL_FED.clocks(shape, rows=8, channels=32, depth=32, bits=bits) for bits in (8, 16)
    )
    assert sixteen == eight / WELL_FED.int16_rate


def test_the_chip_says_how_many_pixels_are_taken_at_once() -> None:
    array = MacArray.of(HTA)
    assert array.macs_per_clk == HTA.macs_per_clk
    assert MacArray.of(structs.replace(HTA, macs_per_clk=1.0)).pixel_lanes == 1


def test_the_stage_behind_the_array_works_at_its_rate() -> None:
    stage = replace(ARRAY, stage_bytes_per_clk=128)
    assert [stage.stage_clocks(size) for size in (0, 1, 128, 129)] == [0, 1, 1, 2]


def test_channels_of_two_groups_are_two_passes() -> None:
    shape = mac_shape(conv_call(size=(1, 1), channels=32, outputs=96, groups=2))
    clocks = [
        WELL_FED.clocks(shape, rows=1, channels=32, depth=16, bits=8, first=first)
        for first in (0, 32, 64)
    ]
    assert clocks == [1, 2, 1]  # 48 channels a group: the middle ones belong to both


def test_the_local_memory_feeds_pixels_once_for_all_taps() -> None:
    point = mac_shape(conv_call(size=(8, 12), channels=64, outputs=64))
    window = mac_shape(conv_call(size=(8, 12), channels=64, outputs=64, kernel=3))
    wanted = {"rows": 8, "channels": 64, "depth": 64, "bits": 8}
    fed = 8 * 12 * 64 * 2 / ARRAY.feed_bytes_per_clk  # every pixel for both passes of 32 channels
    assert ARRAY.clocks(point, **wanted) == fed > WELL_FED.clocks(point, **wanted)
    assert ARRAY.clocks(window, **wanted) == WELL_FED.clocks(window, **wanted) > fed


def test_a_step_brings_fresh_pixels_and_a_depthwise_channel_its_own() -> None:
    strided = mac_shape(conv_call(size=(9, 9), channels=512, outputs=32, stride=2, kernel=1))
    wide = mac_shape(conv_call(size=(9, 9), channels=512, outputs=32, stride=2, kernel=3))
    assert (strided.fresh_pixels, wide.fresh_pixels) == (1, 4)
    depthwise = mac_shape(conv_call(size=(8, 24), channels=64, outputs=64, groups=64, kernel=1))
    clocks = ARRAY.clocks(depthwise, rows=8, channels=64, depth=1, bits=8)
    assert clocks == 8 * 24 * 64 / ARRAY.feed_bytes_per_clk


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
