"""What the parts of the phone tell, by hand and over random networks."""

from __future__ import annotations

import itertools
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hexsim.datasheets import background, chips, stacks
from hexsim.datasheets.chips import Chip
from hexsim.datasheets.stacks import Stack
from hexsim.errors import HexsimError
from hexsim.graph.ir import Network
from hexsim.simulation.phone import Phone, Recording
from hexsim.simulation.simulator import Job, Workload, simulate
from hexsim.timing.results import Result, Span
from hexsim.timing.simtime import Environment
from tests.small_networks import Sketch, networks, plan
from tests.thorough import examples


def phone(chip: str, stack: str, *profiles: str) -> Phone:
    software = stacks.load(stack)
    return Phone(chips.load(chip), software, [software.profile(name) for name in profiles])


def test_the_highest_vote_sets_the_clock() -> None:
    both = phone("sd855", "snpe-1.30", "power_saver", "burst").dsp
    assert both.clock_hz == phone("sd855", "snpe-1.30", "burst").dsp.clock_hz
    assert both.clock_hz > phone("sd855", "snpe-1.30", "power_saver").dsp.clock_hz


@pytest.mark.parametrize(("chip", "workers"), [("sd835", 2), ("sd845", 2), ("sd855", 4)])
def test_there_is_one_worker_per_vector_context(chip: str, workers: int) -> None:
    assert phone(chip, "snpe-1.30", "burst").dsp.target.workers == workers


def test_audio_takes_its_share_of_a_shared_l2() -> None:
    assert phone("sd835", "snpe-1.23", "burst").dsp.target.l2_bytes == 256 * 1024
    assert phone("sd845", "snpe-1.30", "burst").dsp.target.l2_bytes == 512 * 1024


def test_the_bus_vote_scales_the_bandwidth_and_half_of_the_latency() -> None:
    full = phone("sd835", "snpe-1.23", "burst").dsp.ddr.rule
    low = phone("sd835", "snpe-1.23", "low_power_saver").dsp.ddr.rule
    assert low.bytes_per_second == full.bytes_per_second / 4
    assert low.bytes_in_flight == full.bytes_in_flight
    assert low.latency_s == full.latency_s * (0.5 + 0.5 * 4)
    assert low.stream_bytes_per_second == low.bytes_in_flight / low.latency_s


def test_a_mispredicted_jump_costs_its_packets_and_the_way_to_l2() -> None:
    assert phone("sd835", "snpe-1.23", "burst").dsp.target.restart_slots == 5 + 12 // 2


def test_a_chip_without_a_dsp_says_so() -> None:
    with pytest.raises(HexsimError, match="sd625"):
        _ = phone("sd625", "snpe-1.23", "burst").dsp


PHONES = [("sd820", "snpe-1.23"), ("sd835", "snpe-1.23"), ("sd855", "snpe-1.30")]
phones = st.sampled_from(PHONES)


def loaded(names: tuple[str, str]) -> tuple[Chip, Stack]:
    return chips.load(names[0]), stacks.load(names[1])


def run(network: Network, names: tuple[str, str], runtime: str = "dsp", jobs: int = 1) -> Result:
    job = Job(plan(network, runtime), count=2)  # type: ignore[arg-type]
    return simulate(Workload((job,) * jobs, recorded=True), *loaded(names))


def test_whoever_leaves_a_place_leaves_a_span() -> None:
    env, spans = Environment(), list[Span]()
    recording = Recording(env, spans)
    places = recording.places("seat", 2)
    for time, occupants in [(0, ["a", None]), (5, ["a", "b"]), (5, ["c", "b"]), (9, [None, "b"])]:
        env.run(time) if time > env.now else None
        places.occupied_by(occupants)
    env.run(12)
    recording.end()
    assert spans == [
        Span("seat 0", "a", 0, 5),
        Span("seat 0", "c", 5, 9),
        Span("seat 1", "b", 5, 12),
    ]


def test_of_readings_at_one_instant_the_last_one_counts_and_the_end_is_zero() -> None:
    env = Environment()
    recording = Recording(env, [])
    meter = recording.meter("rate", "B/s", 10.0, scale=1e12)
    meter.reads(3e-12)
    env.run(1_000_000)
    meter.reads(7e-12)
    meter.reads(2e-12)
    env.run(3_000_000)
    (level,) = recording.end()
    assert level.steps == ((0, 3.0), (1_000_000, 2.0), (3_000_000, 0.0))
    assert level.total == pytest.approx(3e-6 + 2 * 2e-6)


@examples(25)
@given(networks(), phones, st.sampled_from(["dsp", "cpu"]))
def test_a_record_changes_nothing_that_it_records(
    network: Network, names: tuple[str, str], runtime: str
) -> None:
    job = Job(plan(network, runtime), count=2)  # type: ignore[arg-type]
    plain = simulate(Workload((job,)), *loaded(names))
    recorded = run(network, names, runtime)
    assert recorded.inferences == plain.inferences
    assert recorded.counters == plain.counters
    assert set(plain.timeline.spans) <= set(recorded.timeline.spans)
    assert plain.timeline.levels == ()


@examples(25)
@given(networks(), phones, st.integers(1, 3))
def test_places_and_levels_agree_with_the_counters(
    network: Network, names: tuple[str, str], jobs: int
) -> None:
    chip, _ = loaded(names)
    result = run(network, names, jobs=jobs)
    timeline = result.timeline
    known = {f"hardware thread {k}" for k in range(chip.dsp.hardware_threads)}
    known |= {f"hvx context {k}" for k in range(chip.dsp.hvx.contexts)}
    tracks = {track for track in timeline.tracks if track.split()[0] in ("hardware", "hvx")}
    assert tracks <= known

    for track in timeline.tracks:
        spans = [span for span in timeline.spans if span.track == track]
        for before, after in itertools.pairwise(spans):
            assert before.t1_ps <= after.t0_ps

    levels = {level.name: level for level in timeline.levels}
    counters = result.counters
    moved = counters["dsp_ddr_read_bytes"] + counters["dsp_ddr_write_bytes"]
    assert levels["ddr"].total == pytest.approx(moved, rel=1e-4, abs=1)
    assert all(v <= levels["ddr"].capacity * 1.000001 for _, v in levels["ddr"].steps)
    host_ps = sum(timeline.busy_ps(track) for track in timeline.tracks if track.endswith("cpu"))
    if all(layer.engine == "hvx" for layer in result.layers) and jobs <= chip.cpu.cores:
        assert levels["cpu cores"].total * 1e12 == pytest.approx(host_ps, abs=10)
    assert all(v <= chip.cpu.cores for _, v in levels["cpu cores"].steps)


@examples(25)
@given(networks(), phones)
def test_a_thread_that_nobody_displaces_is_on_a_hardware_thread_as_long_as_it_works(
    network: Network, names: tuple[str, str]
) -> None:
    timeline = run(network, names).timeline
    placed: Counter[str] = Counter()
    for span in timeline.spans:
        if span.track.startswith("hardware thread"):
            placed[span.name] += span.t1_ps - span.t0_ps
    for thread, occupied_ps in placed.items():
        assert occupied_ps == timeline.busy_ps(thread)
    assert "q6 main" in placed


@examples(25)
@given(networks(), phones)
def test_a_layer_on_hvx_runs_while_its_graph_holds_contexts(
    network: Network, names: tuple[str, str]
) -> None:
    result = run(network, names)
    locks = [span for span in result.timeline.spans if span.track == "hvx context 0"]
    for layer in result.layers:
        if layer.engine == "hvx":
            end = layer.start_ps + layer.duration_ps
            assert any(lock.t0_ps <= layer.start_ps and end <= lock.t1_ps for lock in locks)


def test_no_thread_is_on_two_hardware_threads_at_once_beside_clients() -> None:
    net = Sketch((1, 28, 28, 32))
    network = net.network(net.conv(net.conv("in", 64, 3), 64, 3))
    loads = tuple(background.load(name) for name in background.names())
    workload = Workload((Job(plan(network), count=5),) * 2, loads, recorded=True)
    timeline = simulate(workload, *loaded(("sd855", "snpe-1.30"))).timeline
    threads = [span for span in timeline.spans if span.track.startswith("hardware thread")]
    assert len({span.name for span in threads}) > 12
    for name in {span.name for span in threads}:
        own = sorted((s for s in threads if s.name == name), key=lambda span: span.t0_ps)
        for before, after in itertools.pairwise(own):
            assert before.t1_ps <= after.t0_ps or name.endswith("interrupt")
