"""The blocked convolution against a walk over every tile of every slice."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hexsim.hvx.kernels import Target, node_work
from hexsim.hvx.kernels import _counted as counted
from hexsim.memory import Traffic
from hexsim.work import NodeWork, Stage
from tests.small_networks import Sketch, only_call

KB = 1024
NONE = Traffic()
TARGETS = {
    "v60": Target("v60", 2, 256 * KB, 0),
    "v62": Target("v62", 2, 256 * KB, 0),
    "v65": Target("v65", 2, 512 * KB, 256 * KB),
    "v66": Target("v66", 4, 1024 * KB, 256 * KB),
}


def conv_work(
    version: str,
    size: tuple[int, int, int],
    channels: int,
    kernel: int = 1,
    stride: int = 1,
    traffic: Traffic = NONE,
) -> NodeWork:
    net = Sketch((1, *size))
    call = only_call(net, net.conv("in", channels, kernel, stride))
    return node_work(call, TARGETS[version], traffic)


def only_stage(work: NodeWork) -> Stage:
    (stage,) = work.stages
    return stage


def v66_tiles(size: tuple[int, int, int], channels: int, kernel: int) -> int:
    """Packets of all tiles, one by one."""
    height, width, depth = size
    packets = 0
    for _row in range(height):
        for _tile in range(0, width, 4):
            for _slice in range(0, channels, 32):
                depth_rows = kernel * len(range(0, depth, 32))
                packets += counted.conv_v66(kernel, depth_rows, 1).tile
    return packets


@given(
    st.tuples(st.integers(2, 20), st.integers(2, 20), st.sampled_from([8, 32, 48, 128])),
    st.sampled_from([8, 32, 64, 200]),
    st.sampled_from([1, 3]),
)
def test_v66_packets_are_tiles_calls_and_weight_copies(
    size: tuple[int, int, int], channels: int, kernel: int
) -> None:
    work = conv_work("v66", size, channels, kernel)
    tiles = v66_tiles(size, channels, kernel)
    slices = math.ceil(channels / 32)
    weight_vectors = slices * 32 * (kernel**2 * math.ceil(size[2] / 32) * 32 + 4) / 128
    jobs = only_stage(work).jobs
    assert work.packets - tiles == pytest.approx(
        weight_vectors + 60 * slices * min(4, size[0]), rel=0.5, abs=jobs + 60 * slices * 4
    )
    assert work.packets >= tiles + math.floor(weight_vectors)


@given(
    st.sampled_from(sorted(TARGETS)),
    st.tuples(st.integers(1, 30), st.integers(1, 30), st.sampled_from([1, 3, 16, 64, 500])),
    st.sampled_from([1, 16, 32, 96, 700]),
    st.sampled_from([1, 3, 5]),
    st.sampled_from([1, 2, 3]),
    st.tuples(st.integers(0, 10**6), st.integers(0, 10**6)),
)
def test_every_version_moves_all_weights_and_beats_no_peak(
    version: str,
    size: tuple[int, int, int],
    channels: int,
    kernel: int,
    stride: int,
    moved: tuple[int, int],
) -> None:
    work = conv_work(version, size, channels, kernel, stride, Traffic(*moved))
    height, width, depth = (-(-size[0] // stride), -(-size[1] // stride), size[2])
    macs = height * width * channels * kernel**2 * depth
    assert work.packets * (512 if version in ("v65", "v66") else 256) >= macs
    assert work.read_bytes >= kernel**2 * depth * channels + moved[0]
    assert work.write_bytes == moved[1]
    assert all(len(p.items) <= TARGETS[version].workers for p in only_stage(work).slices)
    assert work.cost_model == "kernel"


def test_weights_come_in_groups_of_128_kb_before_v65() -> None:
    stage = only_stage(conv_work("v62", (14, 14, 512), 512, 3))  # 144 KB a slice
    assert [piece.read_bytes for piece in stage.slices] == [32 * (9 * 512 + 4)] * 16
    stage = only_stage(conv_work("v62", (14, 14, 512), 512))  # 16 KB a slice, 7 fit
    assert [piece.read_bytes // 16_000 for piece in stage.slices] == [7, 7, 2]


def test_activations_that_are_not_in_l2_are_read_for_every_group() -> None:
    once = conv_work("v62", (14, 14, 512), 512)
    again = conv_work("v62", (14, 14, 512), 512, traffic=Traffic(read_bytes=100_352))
    assert again.read_bytes - once.read_bytes == 3 * 100_352


def test_unsigned_weights_need_sums_of_activations() -> None:
    calls = 2 * 4 * 2  # threads, slices, and 14 rows in calls of 9
    plain = counted.conv_v60(1, 4).tile * 28 * 7 * 4 + 35 * calls
    work = conv_work("v62", (28, 28, 128), 128)
    sums = 28 * 28 // 4 * (4 * 1 + 6)
    assert work.packets == plain + sums


def test_v65_takes_slices_in_pairs_and_the_odd_one_alone() -> None:
    def tiles(channels: int) -> int:
        return conv_work("v65", (16, 16, 256), channels, 3).packets

    one, pair, three = tiles(32), tiles(64), tiles(96)
    assert pair < 2 * one
    assert three == pytest.approx(one + pair, rel=0.05)


def test_v65_falls_back_to_v60_if_a_slice_exceeds_vtcm() -> None:
    work = conv_work("v65", (7, 7, 1024), 32, 3)  # 288 KB a slice
    assert work.vtcm_bytes == 0
    assert work.packets == pytest.approx(counted.conv_v60(3, 96).tile * 14, rel=0.05)


def test_v66_leaves_strides_above_two_to_v60() -> None:
    assert conv_work("v66", (30, 30, 64), 32, 3, stride=2).vtcm_bytes > 0
    assert conv_work("v66", (30, 30, 64), 32, 3, stride=3).vtcm_bytes == 0


def test_the_first_layer_uses_the_depth_four_kernel_on_every_version() -> None:
    packets = {v: conv_work(v, (224, 224, 3), 32, 3, stride=2).packets for v in TARGETS}
    tiles = 112 * 28 * counted.conv_input((3, 3), 2).tile
    copies = math.ceil(224 * 224 * 4 / 128) * 3
    for total in packets.values():
        assert total == pytest.approx(tiles + copies, rel=0.01)
