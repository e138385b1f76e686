"""The formulas give the packets that facts about the hand-written kernels state in words."""

from __future__ import annotations

import pytest

from hexsim.hvx.kernels import _counted as counted


@pytest.mark.parametrize(
    ("fw", "fh", "channels", "ideal", "packets"),
    [(1, 1, 32, 16, 32), (1, 1, 256, 128, 151), (3, 3, 128, 576, 603)],
)
def test_v60_tiles_and_their_efficiency(
    fw: int, fh: int, channels: int, ideal: int, packets: int
) -> None:
    cost = counted.conv_v60(fw, fh * channels // 32)
    assert cost.tile == packets
    macs = cost.pixels * cost.channels * fw * fh * channels
    assert macs == 256 * ideal


@pytest.mark.parametrize("fw", [1, 3, 5])
@pytest.mark.parametrize("depth_rows", [1, 4, 36])
def test_no_convolution_tile_beats_its_version(fw: int, depth_rows: int) -> None:
    for cost, per_packet in [
        (counted.conv_v60(fw, depth_rows), 256),
        (counted.conv_v65_pair(fw, depth_rows), 512),
        (counted.conv_v65_pair_six(fw, depth_rows), 512),
        (counted.conv_v65_single(fw, depth_rows), 512),
        (counted.conv_v66(fw, depth_rows, 1), 512),
        (counted.conv_v66(fw, depth_rows, 2), 512),
    ]:
        macs = cost.pixels * cost.channels * fw * depth_rows * 32
        assert macs < per_packet * cost.tile


def test_window_five_of_the_response_norm_takes_93_packets() -> None:
    assert counted.local_response_norm(5).tile == 93


def test_loops_of_v66_are_not_fed_by_scalar_loads() -> None:
    assert counted.conv_v60(3, 4).scalar_fed
    assert counted.conv_v65_pair(3, 4).scalar_fed
    assert not counted.conv_v66(3, 4, 1).scalar_fed


def test_fully_connected_reads_every_weight_once() -> None:
    cost = counted.fully_connected(4096, 1)
    assert cost.l2_vectors * 128 >= 4096 * 32
    assert counted.fully_connected(4096, 4).tile < 4 * cost.tile


def test_depthwise_has_loops_for_three_five_and_seven_columns_only() -> None:
    for width in (3, 5, 7):
        assert counted.depthwise((width, width), 1) is not None
    assert counted.depthwise((4, 4), 1) is None
    assert counted.depthwise((1, 1), 1) is None
