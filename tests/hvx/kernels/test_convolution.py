"""The blocked convolution against a walk over every tile of every slice."""

from __future__ import annotations

import dataclasses
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hexsim.hvx.isa import HvxMachine
from hexsim.hvx.kernels import Target, fetched_early, kernel_streams, node_work
from hexsim.hvx.streams import convolution
from hexsim.layers import Elementwise
from hexsim.timing.memory import Traffic
from hexsim.timing.work import NodeWork, Stage
from tests.small_networks import Sketch, only_call
from tests.thorough import examples

KB = 1024
NONE = Traffic()
TARGETS = {
    "v60": Target(HvxMachine(60), 2, 256 * KB, 0),
    "v62": Target(HvxMachine(62), 2, 256 * KB, 0),
    "v65": Target(HvxMachine(65), 2, 512 * KB, 256 * KB),
    "v66": Target(HvxMachine(66), 4, 1024 * KB, 256 * KB),
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
                packets += convolution.v66(HvxMachine(66), kernel, depth_rows).cost.tile
    return packets


def slots(work: NodeWork) -> int:
    return sum(item.packets + item.stalls for item in work.items)


@examples(100)
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
    call = convolution.v66(HvxMachine(66), kernel, 1).cost.call
    around = slots(work) - tiles - weight_vectors
    rows = slices * size[0]
    beyond = rows * kernel * math.ceil(size[2] / 32) * math.ceil(size[1] / 4)
    further = tiles / math.ceil(size[1] / 4)  # a vector begun on the left, in each row
    assert 9 * rows <= around
    assert around <= rows * (9 + 6 + 6 + call) + 4 * slices * 140 + beyond + further + 4


@examples(100)
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


def test_what_l2_cannot_hold_of_the_activations_is_read_again_for_every_group() -> None:
    """512 output channels are three groups: one pass reads all, two more what is missing then."""
    weights = conv_work("v62", (14, 14, 512), 512).read_bytes
    moved = Traffic(read_bytes=100_352, reread_bytes=7000)
    again = conv_work("v62", (14, 14, 512), 512, traffic=moved)
    assert again.read_bytes - weights == 100_352 + 2 * 7000


def test_v66_computes_all_slices_at_once_if_their_weights_fit_vtcm() -> None:
    """256 channels have 8 slices of 8 KB; the 16 rows are shared by four workers."""
    stage = only_stage(conv_work("v66", (16, 16, 256), 256))
    (piece,) = stage.slices
    assert len(piece.items) == 4
    assert stage.copied


@pytest.mark.parametrize(("channels", "ring"), [(512, 16), (1024, 8), (3072, 2)])
def test_v66_keeps_a_ring_of_slices_in_vtcm(channels: int, ring: int) -> None:
    """The next slice comes when the jobs of the one in its place are done."""
    stage = only_stage(conv_work("v66", (16, 16, channels), 1024))
    assert [len(piece.items) for piece in stage.slices] == [4] * 32
    assert {piece.read_bytes for piece in stage.slices} == {32 * (channels + 4)}
    assert stage.buffers == ring


def test_v66_gives_each_slice_of_a_single_row_to_one_worker() -> None:
    """So an image of one row has four workers if four slices are in VTCM, otherwise fewer."""
    stage = only_stage(conv_work("v66", (1, 113, 960), 960))
    assert [len(piece.items) for piece in stage.slices] == [1] * 30
    fitting = only_stage(conv_work("v66", (1, 113, 64), 64))
    assert fitting.jobs == 1


def test_workers_prefetch_the_rows_of_their_jobs_and_those_of_later_slices_again() -> None:
    traffic = Traffic(read_bytes=4000, reread_bytes=400)
    stage = only_stage(conv_work("v66", (16, 16, 512), 1024, traffic=traffic))
    first, *later = stage.slices
    assert [item.read_bytes for item in first.items] == [1000] * 4
    assert {item.read_bytes for piece in later for item in piece.items} == {100}


def test_v66_starts_the_copy_for_a_convolution_after_another_one_or_a_pooling() -> None:
    net = Sketch((1, 16, 16, 64))
    dense, pooled = net.conv("in", 64), net.pool("in")
    depthwise, added = (
        net.conv("in", 64, 3, groups=64),
        net.add(Elementwise, "in", "in", kind="sum"),
    )
    call = only_call(net, net.conv("in", 96))
    for version, early in (("v66", [True, True, False, False]), ("v65", [False] * 4)):
        target = TARGETS[version]
        before = [only_call(net, name) for name in (dense, pooled, depthwise, added)]
        assert [fetched_early(node, call, target) for node in before] == early
    assert not fetched_early(call, only_call(net, depthwise), TARGETS["v66"])


def test_unsigned_weights_need_sums_of_activations() -> None:
    """Two threads have four slices of 14 rows each, in calls of 9 rows.

    A row of the integral image has 64 sums of four slices; windows take 10 packets a row.
    """
    calls, jobs = 2 * 4 * 2, 2
    cost = convolution.v60(HvxMachine(62), 1, 4).cost
    work = conv_work("v62", (28, 28, 128), 128)
    plain = (cost.tile + 3) * 28 * 7 * 4 + (cost.call + 35) * calls + 11 * 28 * 4 + 200 * jobs
    integral = 7 * (3 + 2 * 4) + 9 + 33
    assert slots(work) == pytest.approx(plain + 28 * (integral + 10), abs=4)


def test_v65_takes_slices_in_pairs_and_the_odd_one_alone() -> None:
    def tiles(channels: int) -> int:
        return conv_work("v65", (16, 16, 256), channels, 3).packets

    single, pair, three = tiles(32), tiles(64), tiles(96)
    assert pair < 2 * single
    assert three == pytest.approx(single + pair, rel=0.05)


def test_v65_has_a_kernel_for_widths_of_six() -> None:
    def kernels(width: int) -> list[tuple[str, int]]:
        net = Sketch((1, 8, width, 64))
        call = only_call(net, net.conv("in", 96, 3))
        return [(kernel.name, kernel.pixels) for kernel in kernel_streams(call, TARGETS["v65"])]

    rest = [("conv v65 single", 8), ("weights to VTCM", 4), ("pixel pairs", 4)]
    assert kernels(12) == [("conv v65 pair", 6), *rest]
    assert kernels(16) == [("conv v65 pair", 8), *rest]


def test_v65_falls_back_to_v60_if_a_slice_exceeds_vtcm() -> None:
    work = conv_work("v65", (7, 7, 1024), 32, 3)  # 288 KB a slice
    assert work.vtcm_bytes == 0
    assert work.packets == conv_work("v60", (7, 7, 1024), 32, 3).packets
    tiles = convolution.v60(HvxMachine(65), 3, 96).cost.tile * 14
    sums = 2 * 5 * 243  # two workers read five rows of 32 slices, with those of the padding
    assert work.packets == pytest.approx(tiles + sums, rel=0.05)


def test_v66_leaves_strides_above_two_to_v60() -> None:
    assert conv_work("v66", (30, 30, 64), 32, 3, stride=2).vtcm_bytes > 0
    assert conv_work("v66", (30, 30, 64), 32, 3, stride=3).vtcm_bytes == 0


def test_the_first_layer_uses_the_depth_four_kernel_on_every_version() -> None:
    packets = {v: conv_work(v, (224, 224, 3), 32, 3, stride=2).packets for v in TARGETS}
    tiles = 112 * 28 * (convolution.convolution(HvxMachine(60), 3, 3, 2).cost.tile + 5)
    copies = 224 * (7 * 3 + 17)
    sums = 224 * 7 * 8 + 112 * (7 * 3 + 7)  # 256 sums of a row in eight vectors
    rows = 112 * (14 + 20)
    calls = 12 * (80 + 13)  # of at most ten rows each
    for total in packets.values():
        assert total == pytest.approx(tiles + copies + sums + rows + calls, rel=0.01)


def test_only_loops_fed_by_scalar_loads_wait_for_memory() -> None:
    for version, fed in (("v60", True), ("v65", True), ("v66", False)):
        work = conv_work(version, (16, 16, 64), 64, 3)
        assert (sum(item.scalar_fed for item in work.items) > 0) == fed


@pytest.mark.parametrize(
    ("version", "rows_of_tiles"), [("v62", 14 * 4), ("v65", 14 * 2), ("v66", 14 * 4)]
)
def test_every_row_of_tiles_ends_in_a_mispredicted_jump(version: str, rows_of_tiles: int) -> None:
    """128 output channels: four slices of 32, or two pairs of them."""
    net = Sketch((1, 14, 14, 64))
    call = only_call(net, net.conv("in", 128))
    plain = node_work(call, TARGETS[version], NONE)
    target = dataclasses.replace(TARGETS[version], restart_slots=11)
    restarted = node_work(call, target, NONE)
    assert restarted.packets == plain.packets
    assert slots(restarted) - slots(plain) == 11 * rows_of_tiles


def test_the_first_layer_walks_its_tiles_in_a_hardware_loop() -> None:
    net = Sketch((1, 32, 32, 3))
    call = only_call(net, net.conv("in", 32, 3))
    target = dataclasses.replace(TARGETS["v62"], restart_slots=11)
    assert node_work(call, target, NONE) == node_work(call, TARGETS["v62"], NONE)
