"""The tensor processor on the event engine, beside the schedule in closed form."""

from __future__ import annotations

import pytest

import hexsim
from benchmarks.htp_schedule import schedule
from hexsim.deployment import Deployment, deploy
from hexsim.deployment.platform import Platform
from hexsim.htp.compiler import compile_graph, gates
from hexsim.htp.machine import HtpMachine
from hexsim.llm.architecture import architecture_of
from hexsim.llm.network import Widths, decoder
from hexsim.runtimes import Runtime
from hexsim.simulation.simulator import Job, Workload
from hexsim.timing.picoseconds import PS_PER_SECOND

SMALL = "small"
"""A chip with so little VTCM that chains of operations do not keep all large tensors in it."""
_PS_PER_OPERATION = 100
"""Bytes and picoseconds are whole on the event engine."""


def _deployment(chip: str, runtime: Runtime, name: str) -> Deployment:
    platform = Platform.load("sa8295p" if chip == SMALL else chip)
    if chip == SMALL:
        small = platform.chip.with_value("htp.vtcm_bytes", 256 << 10)
        platform = Platform(small, platform.stack)
    return Deployment(hexsim.load(name), platform, runtime)


def _call_s(deployment: Deployment) -> float:
    """The seconds of a call from the CPU under the default profile."""
    stack = deployment.platform.stack
    return stack.htp.call_s.of(stack.profile())


def test_a_call_depends_on_the_profile() -> None:
    """Burst keeps both sides awake; a balanced profile lets the tensor processor sleep."""
    deployment = _deployment("qcs8550", "htp", "resnet18_hub")
    spent = {
        profile: deployment.simulate(perf_profile=profile).overheads[0].duration_ps
        for profile in ("burst", "balanced", "power_saver")
    }
    assert spent == {"burst": 16_700_000, "balanced": 28_900_000, "power_saver": 76_900_000}


@pytest.mark.parametrize("chip", [SMALL, "sa8295p", "sd8gen1", "qcs8550"])
@pytest.mark.parametrize("runtime", ["htp", "htp_fp16"])
@pytest.mark.parametrize("name", ["resnet18_hub", "mobilenet_v2", "mobilenet_v2_2_0"])
def test_a_phone_alone_takes_as_long_as_the_closed_form(
    chip: str, runtime: Runtime, name: str
) -> None:
    """Every operation of it: with much DMA, with many small operations, with spilled tensors."""
    deployment = _deployment(chip, runtime, name)
    machine = HtpMachine.of(deployment.platform.chip, deployment.platform.stack)
    calls = list(deployment.plan.calls())
    graph = compile_graph(calls, deployment.network, machine.vtcm_bytes)
    runs = schedule(graph, machine)
    result = deployment.simulate()
    call_s = _call_s(deployment)
    assert len(result.layers) == len(runs)
    for at, (layer, run) in enumerate(zip(result.layers, runs, strict=True), 1):
        ended_ps = layer.start_ps + layer.duration_ps
        expected = (call_s + run.end_s) * PS_PER_SECOND
        assert ended_ps == pytest.approx(expected, abs=at * _PS_PER_OPERATION)
    assert result.total_ps == result.layers[-1].start_ps + result.layers[-1].duration_ps


@pytest.mark.parametrize("tokens", [1, 16])
def test_states_are_read_by_hvx_while_their_layer_runs(tokens: int) -> None:
    """Not ahead by DMA: more heads of keys take as long as HVX reads them, on either path."""

    def graph(kv_heads: int) -> tuple[Deployment, HtpMachine]:
        config = {
            "model_type": "llama",
            "hidden_size": 512,
            "num_hidden_layers": 1,
            "num_attention_heads": 8,
            "num_key_value_heads": kv_heads,
            "head_dim": 64,
            "intermediate_size": 512,
            "vocab_size": 512,
        }
        model = decoder(
            architecture_of(config, "small", "config.json"), tokens, 2048, Widths(), head=False
        )
        platform = Platform.load("sd8gen3")
        return deploy(model, platform, "htp"), HtpMachine.of(platform.chip, platform.stack)

    for kv_heads in (2, 8):
        deployment, machine = graph(kv_heads)
        cache_bytes = kv_heads * (2048 - tokens) * 64
        by_name = {layer.name: layer for layer in deployment.simulate().layers}
        calls = list(deployment.plan.calls())
        runs = schedule(compile_graph(calls, deployment.network, machine.vtcm_bytes), machine)
        closed = {run.operation.call.layer.name: run for run in runs}
        for name in ("layer0.key_cache", "layer0.value_cache"):
            least_s = cache_bytes / machine.hvx_ddr_bytes_per_s
            assert by_name[name].duration_ps / PS_PER_SECOND >= 0.999 * least_s
            assert closed[name].end_s - closed[name].start_s >= 0.999 * least_s
            assert closed[name].dma_s == 0
            assert by_name[name].ddr_read_bytes == cache_bytes


def test_a_layer_is_divided_without_rest() -> None:
    """Into work, ports, starting and waiting for DMA, of which none is negative."""
    for layer in _deployment(SMALL, "htp", "mobilenet_v2_2_0").simulate().layers:
        assert sum(layer.parts_ps.values()) == layer.duration_ps
        assert min(layer.parts_ps.values()) >= 0


def test_what_goes_through_ddr_is_counted_once() -> None:
    """By the layers and by the path to DDR alike, spilled tensors of a wide network too."""
    result = _deployment(SMALL, "htp", "mobilenet_v2_2_0").simulate()
    counters = result.counters
    assert counters["dsp_ddr_read_bytes"] == counters["ddr_read_bytes"] > 0
    assert counters["dsp_ddr_write_bytes"] == counters["ddr_write_bytes"] > 0


def test_two_graphs_take_turns() -> None:
    """The second waits for as long as the first runs, and the more urgent one goes first."""
    deployment = _deployment("qcs8550", "htp", "resnet18_hub")
    alone = deployment.simulate().total_ps
    plan = deployment.plan
    jobs = (Job(plan), Job(plan), Job(plan, urgency=-1))
    inferences = deployment.platform.simulate(Workload(jobs)).inferences
    ends = {inference.job: inference.end_ps for inference in inferences}
    assert ends[0] == alone
    graph = alone - _call_s(deployment) * PS_PER_SECOND
    assert ends[2] == pytest.approx(alone + graph, rel=1e-6)
    assert ends[1] == pytest.approx(alone + 2 * graph, rel=1e-6)
    waits = {inference.job: inference.overheads[1].name for inference in inferences}
    assert waits == {0: "graph_start", 1: "htp_wait", 2: "htp_wait"}


def test_fewer_votes_for_the_bus_take_longer() -> None:
    """Weights come slower; the clock of the processor is the only one that is known."""
    deployment = _deployment("qcs8550", "htp", "resnet50")
    burst, saver = (
        deployment.simulate(perf_profile=name).total_ps for name in ("burst", "low_power_saver")
    )
    assert saver > 1.2 * burst


def test_a_gate_holds_what_half_of_vtcm_does() -> None:
    """The bytes of an operation and of those ahead of which DMA runs, unless it is alone."""
    deployment = _deployment("qcm6490", "htp", "resnet50")
    room = deployment.platform.chip.htp.vtcm_bytes
    graph = compile_graph(list(deployment.plan.calls()), deployment.network, room)
    weights = [node.cost.weight_bytes for node in graph]
    waits = gates(graph, room)
    assert any(waits)
    for at, first in enumerate(waits):
        assert first == at or sum(weights[first : at + 1]) <= room / 2
        assert first == 0 or sum(weights[first - 1 : at + 1]) > room / 2
