from __future__ import annotations

from hexsim.deployment.platform import Platform
from hexsim.reports.fitting import page
from hexsim.reports.throughput import throughput_text
from hexsim.studies.throughput import Caller, ClosedLoop, throughput
from tests.small_networks import Sketch, plan


def text(instances: int) -> str:
    net = Sketch((1, 28, 28, 32))
    last = "in"
    for _ in range(24):
        last = net.conv(last, 64, 3)
    caller = Caller(plan(net.network(last)), instances, "high")
    return throughput_text(throughput(Platform.load("sd855"), [caller], ClosedLoop(inferences=4)))


def test_a_row_per_thread_a_row_per_resource_and_a_verdict() -> None:
    lines = text(2).splitlines()[2:]
    assert lines[0].split("  ")[:2] == ["thread", "network"]
    assert [line.split()[:5] for line in lines[2:4]] == [
        [str(thread), "sketch", "dsp", "high", "4"] for thread in (0, 1)
    ]
    resources = [line.rsplit(None, 1)[0].strip() for line in lines if line.endswith("%")]
    assert resources[:3] == ["hardware threads", "hvx contexts", "hvx contexts at work"]
    assert lines[-3].startswith("Total throughput: ")
    assert lines[-2].startswith("Average power: ")


def test_a_narrow_page_keeps_what_is_asked_for_most() -> None:
    with page(66):
        header, units = text(2).splitlines()[2:4]
    kept = "thread network runtime infs/sec alone median p99 alone"
    assert header.split() == kept.split()
    assert units.split() == ["infs/sec", "ms", "ms", "ms"]


def test_a_call_that_nothing_limits_is_limited_by_its_length() -> None:
    assert "Limited by nothing but the length of the calls" in text(1)
    assert text(4).splitlines()[-1].startswith("Limited by hvx contexts, in use 9")
