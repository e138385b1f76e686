"""A calibration reads back as it was, and its text follows from the document alone."""

from __future__ import annotations

import re

from hexsim.deployment.platform import Platform
from hexsim.reports.studies import calibration_text, throughput_text
from hexsim.reports.text import page
from hexsim.results.calibration import CalibratedConstant, CalibratedRow, Calibration, OneRunAlone
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
    lines = text(2).splitlines()[4:]
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
        header, units = text(2).splitlines()[4:6]
    kept = "thread network runtime infs/sec alone median p99 alone"
    assert header.split() == kept.split()
    assert units.split() == ["infs/sec", "ms", "ms", "ms"]


def test_a_call_that_nothing_limits_is_limited_by_its_length() -> None:
    said = re.search(
        r"Limited by the length of the calls\. .* by up to (\d+)%; then (.*) would", text(1)
    )
    assert said is not None
    assert re.search(
        rf"^{said[2]} +{round(100 / (1 + int(said[1]) / 100))}%$", text(1), re.MULTILINE
    )
    assert text(4).splitlines()[-1].startswith("Limited by hvx contexts, in use 9")


RUN = CalibratedRow(
    runtime="dsp",
    network="alexnet",
    model="alexnet",
    figure="total_inference",
    measured_ms=10.0,
    before_ms=12.0,
    after_ms=10.5,
    left_out_ms=11.0,
)
LAYER = CalibratedRow(
    runtime="dsp",
    network="alexnet",
    model="alexnet",
    figure="layer",
    layer="conv1",
    layer_class="convolution",
    measured_ms=1.0,
    before_ms=2.0,
    after_ms=1.1,
)
MOVED = CalibratedConstant(
    stated_by="snpe-1.30",
    constant="rpc.call_us",
    unit="us",
    reported=True,
    before=100.0,
    after=150.0,
    one_sigma_factor_before=2.0,
    one_sigma_factor_after=1.25,
)
ANSWER = Calibration(
    chip="sd845",
    stack="snpe-1.30",
    constants=(MOVED,),
    measured=(RUN, LAYER),
    one_run_alone=OneRunAlone(median_error_of_others_before=0.2, median_error_of_others_after=0.1),
    stack_toml="title = 1",
)


def test_rows_keep_their_key_and_files_are_not_stored() -> None:
    text = ANSWER.to_json()
    assert '"rows": [' in text
    assert "toml" not in text
    read = Calibration.from_json(text)
    assert (read.constants, read.measured) == (ANSWER.constants, ANSWER.measured)
    assert read.stack_toml == ""
    assert repr(read) == "<Calibration: sd845, snpe-1.30: 1 of 1 constants informed by 2 rows>"


def test_the_text_has_constants_runs_classes_and_errors() -> None:
    lines = calibration_text(ANSWER).splitlines()
    assert lines[0].startswith("sd845, snpe-1.30: 1 constants affect 2 rows; 1 have another value")
    assert lines[3].split() == [
        *("rpc.call_us", "snpe-1.30", "100", "us", "x/", "2.00", "150", "us", "x/", "1.25")
    ]
    assert "10.5 (+5%)" in next(line for line in lines if line.startswith("dsp"))
    assert "convolution" in next(line for line in lines if "convolution" in line)
    assert lines[-3].startswith("Median error of the rows: 60.0% before")
    assert lines[-1] == "One run alone leaves 10.0% on the others, which is 20.0% without it."
