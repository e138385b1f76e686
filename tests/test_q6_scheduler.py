"""Small nodes whose times follow from arithmetic: one packet is 2 ns, one byte from DDR 1 ns."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest
import simpy
from hypothesis import given
from hypothesis import strategies as st

from hexsim.q6_scheduler import DispatchRule, GraphSession
from hexsim.qurt_threads import IssueRule, Q6Core, SoftwareThread, VectorContexts
from hexsim.timing.memory import Ddr, DdrRule
from hexsim.timing.results import Bound, NodeTiming, Span, largest
from hexsim.timing.simtime import Environment
from hexsim.timing.work import NodeWork, Slice, Stage, WorkItem

ISSUE = IssueRule(
    clock_hz=1e9,
    hardware_threads=4,
    clusters=2,
    multithreading="dynamic",
    clocks_per_packet=2,
    lone_scalar_speedup=1.0,
    scalar_fed_stall=1.0,
    l2_bytes_per_clock=128,
    scalar_multipliers=2,
    scalar_multipliers_shared=True,
    switch_clocks=0,
)
DDR = DdrRule(bytes_per_second=1e9, latency_s=1e-13, bytes_in_flight=1)
"""So short a latency that it rounds to nothing."""


def run(
    *stages: Stage,
    node_clocks: float = 0,
    hand_off_clocks: float = 0,
    fast_path_packets: float = 0,
    ddr: DdrRule = DDR,
    workers: int = 2,
    early: bool = False,
) -> tuple[NodeTiming, list[Span]]:
    env = Environment()
    spans: list[Span] = []
    rule = DispatchRule(
        node_clocks,
        hand_off_clocks,
        wake_clocks=0,
        fast_path_packets=fast_path_packets,
        workers=workers,
        copy_bytes_per_s=0.5e9,
    )
    core, contexts = Q6Core(env, ISSUE), VectorContexts(env, 2)
    session = GraphSession(core, Ddr(env, ddr), contexts, rule, "q6", 0, spans)
    work = NodeWork(stages, "kernel", fetched_early=early)
    timing = env.run(env.process(session.run_node("node", work)))
    assert isinstance(timing, NodeTiming)
    return timing, spans


def ns(timing: NodeTiming) -> float:
    return (timing.end_ps - timing.start_ps) / 1000


def job(packets: int = 500, read: int = 0, write: int = 0) -> Slice:
    return Slice((WorkItem(packets),), read, write)


def test_jobs_spread_over_the_workers() -> None:
    assert ns(run(Stage((job(),) * 4, threads=2))[0]) == 2000
    assert ns(run(Stage((job(),) * 4, threads=1))[0]) == 4000
    assert ns(run(Stage((job(),) * 3, threads=2))[0]) == 2000


def test_only_the_first_fetch_is_exposed_when_compute_is_longer() -> None:
    assert ns(run(Stage((job(read=600),) * 3, threads=1))[0]) == 600 + 3 * 1000


def test_only_the_last_job_is_exposed_when_the_fetch_is_longer() -> None:
    assert ns(run(Stage((job(read=3000),) * 3, threads=1))[0]) == 3 * 3000 + 1000


def test_a_fetch_waits_until_a_buffer_is_free() -> None:
    """One buffer: fetch and job alternate; two: they overlap."""
    pieces = (job(read=1000),) * 3
    assert ns(run(Stage(pieces, threads=1, buffers=1))[0]) == 6000
    assert ns(run(Stage(pieces, threads=1, buffers=2))[0]) == 4000


def test_the_write_back_of_the_last_slice_is_waited_for() -> None:
    assert ns(run(Stage((job(write=300),) * 2, threads=1))[0]) == 2300


def test_reads_and_writes_share_the_bandwidth() -> None:
    """The write of slice 0 and the fetch of slice 2 start together and halve each other."""
    pieces = (job(write=1000), job(), job(read=1000))
    assert ns(run(Stage(pieces, threads=1))[0]) == 1000 + 2000 + 1000


def test_dispatch_is_paid_per_node_and_hand_off_per_woken_worker() -> None:
    timing, _ = run(Stage((job(),) * 2, threads=2), node_clocks=100, hand_off_clocks=30)
    assert ns(timing) == 100 + 2 * 30 + 1000
    assert timing.dispatch_ps == 160_000
    ended, _ = run(Stage((job(),), threads=2), node_clocks=100, hand_off_clocks=30)
    assert ns(ended) == 100 + 30 + 1000


def test_taking_a_job_from_the_queue_costs_its_fast_path() -> None:
    timing, _ = run(Stage((job(),) * 4, threads=2), fast_path_packets=15)
    assert ns(timing) == 2 * (1000 + 30)
    assert timing.parts_ps["compute"] * 1e-3 == ns(timing)


def test_a_graph_that_waits_for_contexts_is_woken_for_a_price() -> None:
    env = Environment()
    core, contexts = Q6Core(env, ISSUE), VectorContexts(env, 2)
    rule = DispatchRule(0, 0, wake_clocks=400, fast_path_packets=0, workers=2)
    ends = []

    def use(session: GraphSession) -> Iterator[simpy.Event]:
        yield from session.lock_contexts()
        ends.append(env.now / 1000)
        yield env.timeout(1_000_000)
        session.unlock_contexts()

    for name in ("first", "second"):
        env.process(use(GraphSession(core, Ddr(env, DDR), contexts, rule, name, 0, [])))
    env.run()
    assert ends == [0, 1000 + 400]


def test_a_worker_without_a_hardware_thread_is_preempted_not_slow() -> None:
    env = Environment()
    core = Q6Core(env, replace(ISSUE, hardware_threads=1, clusters=1))
    rule = DispatchRule(0, 0, wake_clocks=0, fast_path_packets=0, workers=1)
    session = GraphSession(core, Ddr(env, DDR), VectorContexts(env, 2), rule, "q6", 0, [])
    work = NodeWork((Stage((job(),), threads=1),), "kernel")

    def interrupt() -> Iterator[simpy.Event]:
        yield env.timeout(500_000)
        yield core.run(SoftwareThread("urgent", 1), WorkItem(1500))

    env.process(interrupt())
    timing = env.run(env.process(session.run_node("node", work)))
    assert isinstance(timing, NodeTiming)
    assert timing.parts_ps["preemption"] == 3_000_000
    assert timing.parts_ps["compute"] == 1_000_000
    assert largest(timing.parts_ps) == "preemption"


def test_stages_run_one_after_another() -> None:
    stage = Stage((job(),) * 2, threads=2)
    assert ns(run(stage, stage)[0]) == 2000


def test_the_last_line_of_a_fetch_arrives_a_latency_later_but_holds_nobody_else_up() -> None:
    slow = DdrRule(bytes_per_second=1e9, latency_s=250e-9, bytes_in_flight=10_000)
    pieces = (job(read=3000),) * 3
    assert ns(run(Stage(pieces, threads=1), ddr=slow)[0]) == 3 * 3000 + 250 + 1000
    assert ns(run(Stage((job(write=3000),), threads=1), ddr=slow)[0]) == 1000 + 3000


LONG_LATENCY = DdrRule(bytes_per_second=1e9, latency_s=1e-6, bytes_in_flight=500)
"""One stream gets half of the bandwidth."""


@pytest.mark.parametrize(
    ("stage", "ddr", "bound", "part_ns"),
    [
        (Stage((job(),) * 2, threads=2), DDR, "compute", 1000),
        (Stage((job(read=5000),) * 2, threads=1), DDR, "ddr", 9000),
        (Stage((job(write=5000),), threads=1), DDR, "ddr", 5000),
        (Stage((job(1000), job(50)), threads=2), DDR, "compute", 1050),
        # 1024 bytes a packet through a port of 256: four times as long as it issues
        (Stage((Slice((WorkItem(500, l2_bytes=500 * 1024),)),), threads=1), DDR, "l2", 3000),
        (Stage((job(10), job(1000)), threads=2), DDR, "compute", 1010),
        (Stage((Slice((WorkItem(10), WorkItem(1000), WorkItem(10))),), threads=3), DDR, "imbalance",
         2 / 3 * 1980),
        (Stage((job(read=5000),) * 2, threads=1), LONG_LATENCY, "latency", 20_000),
        # two streams of half the bandwidth each: still only their latency
        (Stage((job(read=9000, write=9000),) * 2, threads=1), LONG_LATENCY, "latency", 54_000),
    ],
)  # fmt: skip
def test_bounds_that_are_known_by_construction(
    stage: Stage, ddr: DdrRule, bound: Bound, part_ns: float
) -> None:
    timing, _ = run(stage, ddr=ddr, workers=3)
    assert largest(timing.parts_ps) == bound
    assert timing.parts_ps[bound] == pytest.approx(part_ns * 1000)


def test_dispatch_is_overhead() -> None:
    timing, _ = run(Stage((job(10),), threads=1), node_clocks=5000)
    assert timing.parts_ps == {
        "compute": 20_000,
        "ddr": 0,
        "latency": 0,
        "l2": 0,
        "preemption": 0,
        "imbalance": 0,
        "overhead": 5_000_000,
    }


STAGES = st.builds(
    Stage,
    st.lists(
        st.builds(
            Slice,
            st.lists(
                st.builds(
                    WorkItem,
                    packets=st.integers(0, 2000),
                    stalls=st.integers(0, 50),
                    l2_bytes=st.integers(0, 10**6),
                    vector=st.booleans(),
                ),
                min_size=1,
                max_size=4,
            ).map(tuple),
            read_bytes=st.integers(0, 5000),
            write_bytes=st.integers(0, 5000),
        ),
        min_size=1,
        max_size=5,
    ).map(tuple),
    threads=st.integers(1, 3),
    buffers=st.integers(1, 3),
)


@given(st.lists(STAGES, min_size=1, max_size=3), st.sampled_from([DDR, LONG_LATENCY]))
def test_the_parts_make_up_the_span_of_the_node(stages: list[Stage], ddr: DdrRule) -> None:
    timing, _ = run(*stages, node_clocks=100, hand_off_clocks=30, ddr=ddr, workers=3)
    assert all(part >= 0 for part in timing.parts_ps.values())
    assert sum(timing.parts_ps.values()) == pytest.approx(timing.end_ps - timing.start_ps, abs=9)


def test_spans_name_the_thread_and_the_node() -> None:
    _, spans = run(Stage((job(read=10, write=10),) * 2, threads=2), node_clocks=100)
    tracks = {span.track for span in spans}
    assert tracks == {"q6 main", "q6 worker 0", "q6 worker 1", "q6 prefetch", "q6 write-back"}
    assert {span.name for span in spans} == {"node"}


def test_a_worker_waits_for_each_line_that_nobody_prefetches() -> None:
    """Eight lines of 128 bytes with a latency of 100 ns each, after ten packets of 2 ns."""
    ddr = DdrRule(bytes_per_second=1e12, latency_s=100e-9, bytes_in_flight=1024)
    item = WorkItem(10, missing_bytes=8 * 128)
    timing, _ = run(Stage((Slice((item,)),), threads=1), ddr=ddr)
    assert timing.end_ps == 20_000 + 800_000
    assert timing.parts_ps["latency"] == 800_000


def test_a_worker_prefetches_the_rows_of_its_job_while_it_computes() -> None:
    """500 packets take 1000 ns, a byte takes 1 ns; two workers share the bandwidth."""
    for read, end in ((400, 1000), (3000, 3000)):
        stage = Stage((Slice((WorkItem(500, read_bytes=read),)),), threads=1)
        assert ns(run(stage)[0]) == end
    timing, _ = run(Stage((Slice((WorkItem(500, read_bytes=3000),) * 2),), threads=2))
    assert ns(timing) == 6000
    assert timing.parts_ps["ddr"] == 5_000_000


def test_copies_have_the_rate_of_their_unit() -> None:
    pieces = (job(read=1000),) * 3
    assert ns(run(Stage(pieces, threads=1, copied=True))[0]) == 3 * 2000 + 1000


def test_a_fetch_that_the_node_before_starts_runs_during_the_dispatch() -> None:
    stage = Stage((job(read=600),), threads=1)
    assert ns(run(stage, node_clocks=400)[0]) == 400 + 600 + 1000
    assert ns(run(stage, node_clocks=400, early=True)[0]) == 600 + 1000
    assert ns(run(stage, node_clocks=900, early=True)[0]) == 900 + 1000


def test_several_streams_have_as_many_bytes_in_flight() -> None:
    """A stream moves 1024 bytes in 100 ns; the last byte arrives 100 ns after it left."""
    ddr = DdrRule(bytes_per_second=1e12, latency_s=100e-9, bytes_in_flight=1024)
    for streams, fetch_ps in ((1, 400_000), (2, 200_000), (4, 100_000)):
        stage = Stage((Slice((WorkItem(10),), 4096),), threads=1, streams=streams)
        assert run(stage, ddr=ddr)[0].end_ps == fetch_ps + 100_000 + 20_000
