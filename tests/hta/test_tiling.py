"""What must hold of every tiling, whatever is chosen."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hexsim.hta.array import MacShape
from hexsim.hta.tiling import HtaTile, TileLimits, tiles
from hexsim.planning.plan import KernelCall
from tests.hta.shapes import ARRAY, calls, conv_call, mac_shape
from tests.thorough import examples

KB = 1024


def room(buffer_bytes: int = 256 * KB, **changes: object) -> TileLimits:
    plain = {
        "buffer_bytes": buffer_bytes,
        "kept_bytes": 2 * buffer_bytes,
        "dma_bytes_per_clk": 32,
        "refetch_bytes_per_clk": 4,
        "command_clocks": 200,
        "input_held": False,
        "output_held": False,
    }
    return TileLimits(**{**plain, **changes})  # type: ignore[arg-type]


def whole(shape: MacShape) -> int:
    """Clocks of the array without any cut."""
    return ARRAY.clocks(
        shape,
        rows=shape.rows,
        channels=shape.channels,
        depth=shape.depth,
        bits=8 * shape.activation_bytes,
    )


@examples(80)
@given(calls(), st.sampled_from([4, 16, 64, 256, 4096]), st.booleans(), st.booleans())
def test_tiles_cover_the_layer_and_fit(
    call: KernelCall, kilobytes: int, held_in: bool, held_out: bool
) -> None:
    shape = mac_shape(call)
    space = room(kilobytes * KB, input_held=held_in, output_held=held_out)
    plan = tiles(shape, ARRAY, space)
    array = sum(tile.array_clocks for tile in plan)
    # cutting never saves a clock, so what is covered is at least the layer; no more than the
    # lanes that the edges of tiles leave empty is added
    assert array >= whole(shape)
    assert array * ARRAY.macs_per_clk >= call.macs
    everything = shape.output_bytes(shape.rows, shape.channels)
    assert sum(tile.write_bytes for tile in plan) == (0 if held_out else everything)
    weights = sum(tile.weight_bytes for tile in plan)
    assert weights >= shape.weight_bytes(shape.channels, shape.depth)
    activations = sum(tile.activation_bytes for tile in plan)
    assert not held_in or activations == 0
    if not held_in and shape.row_step <= shape.row_reach:  # else rows in between are skipped
        assert activations >= shape.input_bytes(shape.rows)


@examples(60)
@given(calls(), st.sampled_from([64, 256, 4096]))
def test_a_tile_fits_one_buffer(call: KernelCall, kilobytes: int) -> None:
    """Unless not even one row and one group of channel lanes does: then groups pass over rows."""
    shape, space = mac_shape(call), room(kilobytes * KB)
    lanes = min(shape.channels, math.lcm(ARRAY.channel_lanes, shape.channel_step))
    weights = shape.weight_bytes(lanes, shape.depth)
    fits = shape.input_bytes(1) + shape.output_bytes(1, lanes) + weights <= space.buffer_bytes
    for tile in tiles(shape, ARRAY, space):
        held = tile.activation_bytes + tile.weight_bytes + tile.write_bytes
        assert held <= space.buffer_bytes if fits else tile.weight_bytes <= weights


def test_a_layer_that_fits_is_fetched_once() -> None:
    call = conv_call(size=(14, 14), channels=64, outputs=64, kernel=3)
    shape = mac_shape(call)
    plan = tiles(shape, ARRAY, room(4096 * KB))
    assert sum(tile.weight_bytes for tile in plan) == shape.weight_bytes(64, 64)
    assert sum(tile.activation_bytes for tile in plan) == shape.input_bytes(14)


def clocks_of(plan: tuple[HtaTile, ...]) -> float:
    """Clocks of a plan whose fetches overlap the array."""
    return max(sum(tile.moved_bytes for tile in plan) / 32, sum(tile.clocks for tile in plan))


def test_less_local_memory_means_more_time() -> None:
    shape = mac_shape(conv_call(size=(28, 28), channels=256, outputs=256, kernel=3))
    clocks = [clocks_of(tiles(shape, ARRAY, room(size * KB))) for size in (4, 2048)]
    assert clocks[0] > clocks[1]


def test_what_does_not_stay_of_a_row_is_fetched_for_each_group_of_channels() -> None:
    shape = mac_shape(conv_call(size=(2, 40), channels=4096, outputs=96))
    plan = tiles(shape, ARRAY, room(30 * KB))
    first, again = 160 * KB, (160 - 2 * 30) * KB
    assert [tile.activation_bytes for tile in plan] == 2 * [first, again, again]
    assert [tile.refetch_clocks for tile in plan] == 2 * [0, again / 4, again / 4]
    assert all(tile.clocks >= tile.refetch_clocks > tile.array_clocks for tile in plan[1:3])
    uncut = tiles(shape, ARRAY, room(1024 * KB))
    assert not any(tile.refetch_clocks for tile in uncut)
    assert sum(tile.array_clocks for tile in plan) == sum(tile.array_clocks for tile in uncut)
    (held, *_) = tiles(shape, ARRAY, room(30 * KB, input_held=True))
    assert held.activation_bytes == held.refetch_clocks == 0


def test_weights_that_fit_no_buffer_are_fetched_once_for_rows_that_stay() -> None:
    shape = mac_shape(conv_call(size=(7, 7), channels=1024, outputs=96, kernel=3))
    plan = tiles(shape, ARRAY, room(256 * KB))
    assert shape.weight_bytes(32, shape.depth) > 256 * KB > shape.input_bytes(shape.rows)
    assert sum(tile.weight_bytes for tile in plan) == shape.weight_bytes(96, shape.depth)
    assert not any(tile.refetch_clocks for tile in plan)


@pytest.mark.parametrize("outputs", [1, 31, 33, 100])
def test_channels_are_cut_on_whole_lanes(outputs: int) -> None:
    shape = mac_shape(conv_call(size=(30, 30), channels=64, outputs=outputs))
    plan = tiles(shape, ARRAY, room(32 * KB))
    assert sum(tile.array_clocks for tile in plan) == whole(shape)
    assert math.ceil(outputs / 32) * 32 * 30 * 32 == sum(tile.write_bytes for tile in plan)
