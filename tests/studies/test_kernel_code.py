"""Compiled code on a chip: every example on four versions, against the assembler and slow twins."""

import math
import random

import pytest

import hexsim
from hexsim.deployment.platform import Platform
from hexsim.results.kernel import Kernel
from hexsim.studies.kernel_threads import Core
from hexsim.timing.work import WorkItem
from tests.hvx.code.compiled import NAMES, compiled
from tests.oracle.toolchain import refused
from tests.stepped_core import Job, SteppedCore

CHIPS = {65: "sd845", 66: "sd855", 68: "sd888", 73: "sd8gen2"}
LIMITS = {
    "add_saturate": "vector load port",
    "dot": "multiplier waits",
    "half_product": "multiplier waits",
    "slow": "from the one before",
}


@pytest.mark.toolchain
@pytest.mark.parametrize("version", CHIPS)
@pytest.mark.parametrize("name", NAMES)
def test_an_example_on_a_chip(name, version, tmp_path):
    answer = hexsim.kernel(compiled(name, version, tmp_path), chip=CHIPS[version])
    assert (answer.code_version, answer.version) == (version, version)
    assert answer.loops
    packets = [packet.asm for loop in answer.loops for packet in loop.packets]
    packets = ["{ " + text.replace("; ", "\n  ") + " }" for text in packets]
    assert refused(packets, version) == {}
    for loop in answer.loops:
        assert loop.slots >= max(loop.resource_bound, loop.recurrence_bound, loop.packets_issued)
        assert loop.stalls == sum(packet.stall for packet in loop.packets)
        assert all(bool(packet.stall) == bool(packet.cause) for packet in loop.packets)
        assert all(gain.faster >= 1 for gain in loop.gains)
        clocks = [rate.clocks for rate in loop.threads]
        assert clocks == sorted(clocks)
        assert all(0 < rate.issue_share <= 1 + 1e-9 for rate in loop.threads)
        by_change = {gain.change: gain.slots for gain in loop.gains}
        assert by_change["overlap iterations"] <= by_change["reorder"] <= loop.slots
        waits_for_l1 = any("L1 cache" in remark for remark in loop.remarks)
        assert clocks[0] >= loop.clocks - 0.1
        assert waits_for_l1 or clocks[0] == pytest.approx(loop.clocks)
        assert all(r.clocks <= r.l2_clocks <= r.ddr_clocks + 1e-9 for r in loop.threads)
    assert LIMITS.get(name, "") in answer.loops[0].limit
    assert Kernel.from_json(answer.to_json()) == answer
    assert name in answer.html()


@pytest.mark.toolchain
@pytest.mark.parametrize("version", CHIPS)
def test_two_at_a_time_are_as_much_faster_as_predicted(version, tmp_path):
    """The tutorial: the copies of a loop fill the waits of each other."""
    chip = CHIPS[version]
    before = hexsim.kernel(compiled("half_product", version, tmp_path), chip=chip).loops[0]
    changed = compiled("half_product", version, tmp_path, "-DBY_TWO")
    after = hexsim.kernel(changed, chip=chip).loops[0]
    (gain,) = (gain for gain in before.gains if gain.change == "unroll by 2")
    faster = before.clocks / (after.clocks / 2)
    assert 1 <= faster <= gain.faster + 1e-9
    if version >= 68:
        assert faster == pytest.approx(5 / 3) == gain.faster


@pytest.mark.toolchain
@pytest.mark.slow
def test_damaged_files_are_read_or_refused(tmp_path):
    whole = compiled("filter_3x3", 73, tmp_path).read_bytes()
    damaged = tmp_path / "damaged.o"
    read, refusals = 0, []
    for seed in range(60):
        choose = random.Random(seed)
        data = bytearray(whole)
        for _ in range(choose.choice([1, 3, 10, 60])):
            data[choose.randrange(len(data))] = choose.randrange(256)
        damaged.write_bytes(data if choose.random() < 0.7 else data[: choose.randrange(len(data))])
        try:
            read += bool(hexsim.kernel(damaged, chip="sd8gen2").to_json())
        except hexsim.HexsimError as refusal:
            refusals.append(str(refusal))
    assert 0 < read < 60
    assert not any("\n" in refusal for refusal in refusals)


@pytest.mark.toolchain
def test_trips_give_a_total(tmp_path):
    file = compiled("reduce", 73, tmp_path)
    first, second = hexsim.kernel(file, chip="sd8gen2").loops
    unknown = hexsim.kernel(file, chip="sd8gen2").functions[0]
    assert unknown.total_clocks is None
    trips = {first.name: 100, second.name: 5}
    answer = hexsim.kernel(file, chip="sd8gen2", trips=trips)
    (function,) = answer.functions
    expected = function.straight_clocks + 100 * first.clocks + 5 * second.clocks
    assert function.total_clocks == expected
    assert answer.title.endswith("clocks")


@pytest.mark.toolchain
def test_two_versions_are_compared(tmp_path):
    here, there = (compiled("half_product", 73, tmp_path, o) for o in ("-DBY_TWO", "-DAS_IT_IS"))
    answer = hexsim.kernel(here, chip="sd8gen2", against=there)
    (change,) = answer.changes
    assert change.bytes_per_clock > (change.other_bytes_per_clock or math.inf)
    assert change.faster == pytest.approx(5 / 3)
    assert "against" in str(answer)
    assert "times as fast" in answer.html()


def test_our_own_kernels_have_loops_too():
    answer = hexsim.kernel("max_pool", "8x8x32:2x2:s2", "sd855")
    (loop,) = answer.loops
    (segment,) = (s for stream in answer.streams for s in stream.segments if s.initiation_interval)
    assert loop.slots == segment.initiation_interval
    assert answer.cost is not None


@pytest.mark.parametrize("chip", ["sd835", "sd855", "sd8gen2"])
@pytest.mark.parametrize(("packets", "stalls", "l2_bytes"), [(5, 0, 0), (3, 2, 0), (4, 0, 96)])
def test_threads_are_those_of_the_stepped_core(chip, packets, stalls, l2_bytes):
    """One and two threads; stalls are packets of the stepped core, which has no empty slots."""
    core = Core.of(Platform.load(chip))
    times = 50
    for threads in (1, 2):
        item = WorkItem(packets, stalls, l2_bytes=packets * l2_bytes)
        job = Job(0, times * (packets + stalls), l2_per_packet=l2_bytes, lock="wait")
        ends = SteppedCore(core.rule, [job] * threads, core.contexts).ends()
        assert core.clocks(item, threads) == pytest.approx(max(ends) / times, rel=0.03)


def test_more_threads_than_contexts_take_turns():
    core = Core.of(Platform.load("sd835"))
    item = WorkItem(10, 0)
    assert core.clocks(item, 4) == pytest.approx(2 * core.clocks(item, 2))
    scalar = WorkItem(10, 0, vector=False)
    assert core.clocks(scalar, 4) < core.clocks(item, 4)


def test_a_cluster_issues_one_packet_per_clock():
    core = Core.of(Platform.load("sd8gen4"))
    item = WorkItem(10, 0)
    assert core.clocks(item, 6) == pytest.approx(10 * 6 / core.rule.clusters)
