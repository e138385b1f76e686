from __future__ import annotations

import pytest
import simpy

from hexsim.graph.ir import Network, Tensor
from hexsim.layers import Elementwise, Neuron
from hexsim.memory import Ddr, DdrRule, Traffic, l2_traffic
from hexsim.partition import partition
from hexsim.plan import PlannedSubnet, make_plan


def ddr_ends(rule: DdrRule, transfers: list[tuple[int, int]]) -> list[int]:
    env = simpy.Environment()
    ddr = Ddr(env, rule)
    ends = [0] * len(transfers)

    def stream(index: int, at: int, size: int):
        yield env.timeout(at)
        yield ddr.transfer(size)
        ends[index] = env.now

    for index, (at, size) in enumerate(transfers):
        env.process(stream(index, at, size))
    env.run()
    return ends


def test_one_stream_is_capped_by_bytes_in_flight_over_latency() -> None:
    rule = DdrRule(bytes_per_second=10e9, latency_s=250e-9, bytes_in_flight=1000)  # 4 GB/s
    assert ddr_ends(rule, [(0, 4000)]) == [1_000_000]
    assert Ddr(simpy.Environment(), rule).latency_bound


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


def subnet() -> PlannedSubnet:
    """In -> a -> b -> c, and c is b + a."""
    shape = (1, 8, 8, 32)
    names = ("in", "a", "b", "c")
    layers = (
        Neuron(name="first", inputs=("in",), outputs=("a",), function="tanh"),
        Neuron(name="second", inputs=("a",), outputs=("b",), function="tanh"),
        Elementwise(name="third", inputs=("b", "a"), outputs=("c",), kind="sum"),
    )
    network = Network("n", layers, {n: Tensor(n, shape) for n in names}, {}, ("in",), ("c",))
    return make_plan(network, "dsp", partition(network, "dsp")).subnets[0]


def traffic(l2_bytes: int, **sizes: int) -> list[Traffic]:
    return l2_traffic(subnet(), l2_bytes, {"in": 100, "a": 100, "b": 100, "c": 100, **sizes})


def test_what_fits_in_l2_moves_nothing() -> None:
    assert traffic(400) == [Traffic(0, 0)] * 3


def test_a_tensor_larger_than_l2_is_written_and_read_each_time() -> None:
    assert traffic(300, a=1000) == [Traffic(0, 1000), Traffic(1000, 0), Traffic(1000, 0)]


def test_the_least_recently_used_tensor_leaves_and_comes_back() -> None:
    assert traffic(400, b=400) == [Traffic(0, 0), Traffic(0, 100), Traffic(100, 400)]
