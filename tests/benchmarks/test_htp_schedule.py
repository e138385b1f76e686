"""A compiled graph in time."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest

from benchmarks.htp_schedule import ScheduledOperation, schedule
from hexsim.datasheets import chips, stacks
from hexsim.htp.compiler import compile_graph
from hexsim.htp.machine import HtpMachine
from tests.tensor_graphs import calls_of, convolution, in_16_bits, in_floats


def _machine(chip: str) -> HtpMachine:
    return HtpMachine.of(chips.load(chip), stacks.load("qnn-2.43"))


def _runs(chip: str, name: str = "resnet18_hub") -> tuple[ScheduledOperation, ...]:
    network, calls = calls_of(name)
    machine = _machine(chip)
    return schedule(compile_graph(calls, network, machine.vtcm_bytes), machine)


def test_operations_follow_each_other_without_a_gap() -> None:
    """And each is at least its work and its cost."""
    runs = _runs("qcs8550")
    assert runs[0].start_s == _machine("qcs8550").graph_s
    assert all(run.end_s == following.start_s for run, following in pairwise(runs))
    for run in runs:
        slowest_s = max(run.hmx_s, run.hvx_s, run.port_s)
        assert run.end_s - run.start_s >= (slowest_s + run.overhead_s) * 0.999999


def test_a_graph_is_no_faster_than_its_bytes_and_multiply_adds() -> None:
    """Whatever DMA brings ahead."""
    runs, machine = _runs("qcs8550"), _machine("qcs8550")
    moved = sum(run.operation.cost.weight_bytes for run in runs)
    macs = sum(run.operation.call.macs for run in runs)
    assert runs[-1].end_s >= moved / machine.ddr_bytes_per_s
    assert runs[-1].end_s >= macs / machine.int8_macs_per_s


@pytest.mark.parametrize("field", ["ddr_bytes_per_s", "int8_macs_per_s"])
def test_more_of_a_rate_is_never_slower(field: str) -> None:
    """Nor is less faster."""
    network, calls = calls_of("resnet18_hub")
    machine = _machine("sd8gen1")
    graph = compile_graph(calls, network, machine.vtcm_bytes)
    ends = [
        schedule(graph, replace(machine, **{field: getattr(machine, field) * factor}))[-1].end_s
        for factor in (0.25, 1.0, 4.0)
    ]
    assert ends[0] >= ends[1] >= ends[2]
    assert ends[0] > ends[2]


def test_wider_activations_take_longer(tmp_path: Path) -> None:
    """Codes of 8 bits, of 16, and half floats, in a convolution that HMX bounds."""
    network, calls = convolution(str(tmp_path / "m.onnx"), 256, 64, 256)
    machine = _machine("qcs8550")
    codes, wide, floats = (
        schedule(compile_graph(some, network, machine.vtcm_bytes), machine)[0].hmx_s
        for some in (calls, in_16_bits(calls), in_floats(calls))
    )
    assert wide == pytest.approx(2 * codes)
    assert floats == pytest.approx(4 * codes)


def test_chips_stand_in_the_order_of_their_generations() -> None:
    """From V68 with 2 MB of VTCM to V79."""
    order = ("qcm6490", "sd8gen1", "qcs8550", "sd8gen3", "sd8gen4")
    ends = [_runs(chip)[-1].end_s for chip in order]
    assert ends == sorted(ends, reverse=True)
