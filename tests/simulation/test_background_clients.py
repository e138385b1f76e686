"""Clients whose latencies follow from arithmetic: a packet is 2 ns, a byte from DDR 1 ns."""

from __future__ import annotations

from dataclasses import replace

import pytest
from msgspec import structs

from hexsim.datasheets.background import Client
from hexsim.errors import HexsimError
from hexsim.qurt_threads import IssueRule, Q6Core, VectorContexts
from hexsim.simulation.background_clients import ClientSession
from hexsim.timing.memory import Ddr, DdrRule
from hexsim.timing.results import ClientTiming, Span
from hexsim.timing.simtime import Environment

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
DDR = DdrRule(bytes_per_second=1e9, latency_s=1e-9, bytes_in_flight=10)
TICK = Client(name="tick", period_us=100, priority=64, unit="scalar", packets=10_000)


def run(
    *clients: Client, until_us: int = 1000, wake_clocks: float = 0, rule: IssueRule = ISSUE
) -> tuple[list[ClientTiming], list[Span]]:
    env = Environment()
    core, ddr, hvx = Q6Core(env, rule), Ddr(env, DDR), VectorContexts(env, 2)
    spans: list[Span] = []
    sessions = [
        ClientSession(core, ddr, hvx, wake_clocks, client.name, client, spans) for client in clients
    ]
    stop = env.timeout(until_us * 1_000_000)
    env.run(env.all_of([env.process(session.run(stop)) for session in sessions]))
    return [session.timing for session in sessions], spans


def latencies_us(*clients: Client, **conditions: float) -> list[list[float]]:
    timings, _ = run(*clients, **conditions)  # type: ignore[arg-type]
    return [[ps / 1e6 for ps in timing.latencies_ps] for timing in timings]


def changed(**values: object) -> Client:
    return structs.replace(TICK, **values)


def test_a_job_is_released_every_period_until_the_stop() -> None:
    assert latencies_us(TICK) == [[20] * 10]
    assert latencies_us(changed(first_us=450.0)) == [[20] * 6]


def test_jobs_that_were_released_are_finished() -> None:
    assert latencies_us(changed(period_us=300, packets=200_000)) == [[400, 500, 600, 700]]


def test_a_job_waits_for_the_one_before_it_and_may_be_late() -> None:
    (timing,), _ = run(changed(packets=60_000), until_us=300)
    assert [ps / 1e6 for ps in timing.latencies_ps] == [120, 140, 160]
    assert (timing.released, timing.missed, timing.skipped) == (3, 3, 0)
    (lax,), _ = run(changed(packets=60_000, deadline_us=150.0), until_us=300)
    assert lax.missed == 1
    assert (lax.worst_ps, lax.mean_ps) == (160e6, 140e6)


def test_threads_share_a_job_in_parts_that_add_up() -> None:
    assert latencies_us(changed(threads=3, packets=10_001), until_us=100) == [[2 * 3.334]]


def test_bytes_move_while_packets_issue() -> None:
    assert latencies_us(changed(ddr_bytes=15_000), until_us=100) == [[20]]
    assert latencies_us(changed(ddr_bytes=50_000), until_us=100) == [[50]]


def test_waking_a_thread_comes_on_top() -> None:
    assert latencies_us(TICK, wake_clocks=2000, until_us=100) == [[22]]


def test_the_first_interrupt_releases_the_job_and_each_displaces_somebody() -> None:
    """On one hardware thread the job waits for four handlers of 1 us each."""
    lonely = replace(ISSUE, hardware_threads=1, clusters=1)
    client = changed(interrupts=4, interrupt_packets=500, packets=40_000)
    timings, spans = run(client, until_us=100, rule=lonely)
    assert [ps / 1e6 for ps in timings[0].latencies_ps] == [4 + 80]
    handlers = [span.t0_ps / 1e6 for span in spans if span.track == "tick interrupt"]
    assert handlers == [0, 25, 50, 75]


def test_a_line_is_masked_while_its_handler_runs() -> None:
    client = changed(interrupts=2, interrupt_packets=40_000, packets=1, first_us=1.0)
    _, spans = run(client, until_us=2)
    handlers = [(s.t0_ps / 1e6, s.t1_ps / 1e6) for s in spans if s.track == "tick interrupt"]
    assert handlers == [(1, 81)], "the second one waits, and nobody waits for it"


def vector(name: str, **values: object) -> Client:
    return changed(name=name, unit="hvx", **values)


def test_the_more_urgent_client_gets_the_contexts_first() -> None:
    holder = vector("holder", threads=2, packets=40_000, priority=200)
    patient = vector("patient", first_us=10.0, priority=90)
    urgent = vector("urgent", first_us=20.0, threads=2, priority=80)
    held, waited, first = latencies_us(holder, patient, urgent, until_us=100)
    assert (held, first, waited) == ([40], [40 - 20 + 10], [50 - 10 + 20])


def test_a_try_lock_skips_the_job() -> None:
    holder = vector("holder", threads=2, packets=40_000, period_us=200)
    modest = vector("modest", first_us=10.0, lock="try")
    timings, _ = run(holder, modest, until_us=210)
    assert (timings[1].released, timings[1].skipped, timings[1].missed) == (2, 1, 0)
    assert timings[1].latencies_ps == (20_000_000,)


def test_a_client_that_could_never_lock_its_contexts_is_refused() -> None:
    with pytest.raises(HexsimError, match="'big' needs 3 vector contexts and the DSP has 2"):
        run(vector("big", threads=3))


def test_a_client_that_cannot_keep_up_is_refused() -> None:
    with pytest.raises(HexsimError, match="'tick' cannot keep up: 10000"):
        run(changed(period_us=10, packets=10**9), until_us=10**6)
