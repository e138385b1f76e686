from __future__ import annotations

import pytest

from hexsim.timing.memory import Ddr, DdrRule, Traffic
from hexsim.timing.simtime import Environment


def ddr_ends(rule: DdrRule, transfers: list[tuple[int, int]]) -> list[int]:
    env = Environment()
    ddr = Ddr(env, rule)
    ends = [0] * len(transfers)

    def stream(index: int, at: int, size: int):
        yield env.timeout(at)
        yield ddr.read(size)
        ends[index] = env.now

    for index, (at, size) in enumerate(transfers):
        env.process(stream(index, at, size))
    env.run()
    return ends


def test_one_stream_is_capped_by_bytes_in_flight_over_latency() -> None:
    rule = DdrRule(bytes_per_second=10e9, latency_s=250e-9, bytes_in_flight=1000)  # 4 GB/s
    assert ddr_ends(rule, [(0, 4000)]) == [1_000_000]
    assert Ddr(Environment(), rule).alone_ps(4000) == 1_000_000


def test_a_stream_that_can_use_the_whole_bandwidth_is_not_limited_by_latency() -> None:
    rule = DdrRule(bytes_per_second=4e9, latency_s=250e-9, bytes_in_flight=1001)
    assert Ddr(Environment(), rule).alone_ps(4000) == 0


def test_without_latency_a_stream_has_the_whole_bandwidth() -> None:
    rule = DdrRule(bytes_per_second=4e9, latency_s=0.0, bytes_in_flight=1)
    assert ddr_ends(rule, [(0, 4000)]) == [1_000_000]
    assert Ddr(Environment(), rule).alone_ps(4000) == 0


def test_streams_share_the_bandwidth_once_it_is_the_limit() -> None:
    rule = DdrRule(bytes_per_second=6e9, latency_s=250e-9, bytes_in_flight=1000)
    assert ddr_ends(rule, [(0, 3000), (0, 3000)]) == [1_000_000, 1_000_000]


def test_sharing_agrees_with_packet_by_packet_arbitration() -> None:
    """A memory that serves a quarter byte at a time, always to the stream served least."""
    rule = DdrRule(bytes_per_second=5e9, latency_s=250e-9, bytes_in_flight=1000)
    sizes = [2000, 5000, 3000]
    left, served, now = list(sizes), [0.0] * 3, 0.0
    ends = [0.0] * 3
    step = 1000.0  # ps
    while any(left):
        active = [i for i in range(3) if left[i] > 0]
        budget = rule.bytes_per_second * step / 1e12
        cap = rule.bytes_in_flight / rule.latency_s * step / 1e12
        now += step
        given = dict.fromkeys(active, 0.0)
        crumb = 0.25
        while budget >= crumb:
            hungry = [i for i in active if given[i] + crumb <= cap and given[i] + crumb <= left[i]]
            if not hungry:
                break
            first = min(hungry, key=lambda i: served[i] + given[i])
            given[first] += crumb
            budget -= crumb
        for i in active:
            served[i] += given[i]
            left[i] = max(0.0, sizes[i] - served[i])
            if left[i] < crumb:
                left[i], ends[i] = 0, now
    for fluid, reference in zip(ddr_ends(rule, [(0, size) for size in sizes]), ends, strict=True):
        assert fluid == pytest.approx(reference, rel=0.02)


def test_reads_and_writes_are_counted_apart() -> None:
    ddr = Ddr(Environment(), DdrRule(1e9, 250e-9, 1000))
    ddr.read(30)
    ddr.write(4)
    ddr.read(500)
    assert ddr.moved == Traffic(read_bytes=530, write_bytes=4)


def test_traffic_adds_up_and_is_cut_into_steps() -> None:
    moved = Traffic(5, 6, 7)
    assert moved + Traffic(1, 2, 3) == Traffic(6, 8, 10)
    assert moved.reading(100) == Traffic(105, 6, 7)
    steps = [moved.part(is_first=step == 0, is_last=step == 2) for step in range(3)]
    assert steps == [Traffic(5, 0), Traffic(), Traffic(0, 6)]
