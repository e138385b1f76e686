"""`hexsim throughput`, and traces of the commands that write them."""

import json

import pytest

from hexsim.texts.figures import figure
from tests.reports.trace_format import complaints


def test_two_networks_with_a_runtime_a_count_and_a_priority_each(command, tmp_path):
    code, out, err = command(
        "throughput squeezenet1_1 mobilenet_v2 --chip sd855 --runtime dsp,cpu --instances 2,1 "
        "--priority high,low --inferences 3 --json out.json --trace trace.json"
    )
    assert (code, err) == (0, "")
    assert out.startswith("squeezenet1_1 on the DSP (dsp) of sd855, 8 bits, quantised at load\n")
    assert "\nsnpe-1.30, high_performance\n" in out
    document = json.loads((tmp_path / "out.json").read_text())
    assert [(t["network"], t["runtime"], t["priority"]) for t in document["threads"]] == [
        ("squeezenet1_1", "dsp", "high"),
        ("squeezenet1_1", "dsp", "high"),
        ("mobilenet_v2", "cpu", "low"),
    ]
    assert document["total"]["inferences"] == 9
    assert all(0 < share <= 1 for share in document["utilisation"].values())
    first = document["threads"][0]
    assert max(first["latencies_us"]) == first["latency_us"]["max"]
    assert f"Total throughput: {figure(document['total']['inferences_per_second'])} infs/sec" in out
    trace = (tmp_path / "trace.json").read_text()
    assert complaints(trace) == []
    assert '"job 2 cpu"' in trace


def test_a_release_that_refuses_floats_can_quantize(command, refused):
    line = "throughput conv1x1_1to1 --chip sd865 --inferences 2"
    assert "qnn-2.45 refuses it" in refused(f"{line} --runtime dsp --no-quantize")
    for quantized in (f"{line} --runtime dsp", line):
        done = command(quantized)
        assert (done.code, done.err) == (0, "")


@pytest.mark.parametrize(
    "line",
    [
        "profile squeezenet1_1 --chip sd855",
        pytest.param(
            "bench --chip sd835 "
            "--model squeezenet1_1 --model squeezenet1_1 --runtime dsp,cpu --timing-only "
            "--background camera",
            marks=pytest.mark.slow,
        ),
    ],
)
def test_profile_and_bench_write_traces(command, tmp_path, line):
    plain = command(line)
    traced = command(f"{line} --trace trace.json")
    assert traced == plain, "what is recorded changes nothing"
    first = (tmp_path / "trace.json").read_text()
    assert complaints(first) == []
    assert '"hvx context 0"' in first
    command(f"{line} --trace trace.json")
    assert (tmp_path / "trace.json").read_text() == first


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("throughput --chip sd835 squeezenet1_1 --instances 0", "every network needs at least 1"),
        (
            "throughput --chip sd835 squeezenet1_1 --instances two",
            "'two' is not a number of threads",
        ),
        (
            "throughput --chip sd835 squeezenet1_1 --instances 1,2",
            "--instances has 2 values for 1 models",
        ),
        ("throughput --chip sd835 squeezenet1_1 --priority urgent", "unknown --priority 'urgent'"),
        ("throughput --chip sd835 squeezenet1_1 --inferences 0", "0 inferences give no latency"),
        ("throughput --chip sd835 squeezenet1_1 --inferences 2 --duration-ms 9", "not both"),
        ("throughput --chip sd835 squeezenet1_1 --duration-ms inf", "a duration of inf ms"),
        ("throughput --chip sd835 squeezenet1_1 --runtime npu", "unknown runtime 'npu'"),
        (
            "throughput --chip sd835 squeezenet1_1 --trace no/trace.json",
            "cannot write 'no/trace.json'",
        ),
        (
            "profile --chip sd835 squeezenet1_1 --trace no/trace.json",
            "cannot write 'no/trace.json'",
        ),
        (
            "bench --chip sd835 --model squeezenet1_1 --trace no/trace.json",
            "cannot write 'no/trace.json'",
        ),
    ],
)
def test_mistakes_are_one_sentence(refused, line, says):
    assert says in refused(line)
