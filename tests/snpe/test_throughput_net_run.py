"""`snpe-throughput-net-run` as typed: the figures of `hexsim throughput` in lines of its own."""

import json
import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from hexsim import dlc
from hexsim.quantization.model import Model
from tests.cli.conftest import Done
from tests.small_networks import Sketch

Tool = Callable[[str], Done]
RUN = "snpe-throughput-net-run --container q.dlc"
LINE = re.compile(
    r"\[Thread (\d+) - (\w+)\] ([\d.]+) infs/sec - Number of images processed: (\d+) - "
    r"Build time: (\d+) microseconds - Elapsed time: (\d+) microseconds - "
    r"Real time: (\d+) microseconds - Batch : (\d+)"
)

pytestmark = pytest.mark.usefixtures("files")


def test_figures_are_those_of_our_command(tool: Tool, command: Tool, tmp_path: Path) -> None:
    line = f"{RUN} --use_dsp --perf_profile burst --container m.dlc --use_cpu --perf_profile burst"
    code, out, err = tool(f"{line} --duration 0.02 --json t.json")
    assert (code, err) == (0, "")
    ours = (
        "throughput --chip sd835 "
        "q.dlc m.dlc --runtime dsp,cpu --perf-profile burst --duration-ms 20"
    )
    assert command(f"{ours} --json o.json").code == 0
    assert (tmp_path / "t.json").read_bytes() == (tmp_path / "o.json").read_bytes()
    document = json.loads((tmp_path / "o.json").read_text())
    *threads, total = out.splitlines()
    for number, (text, thread) in enumerate(zip(threads, document["threads"], strict=True)):
        match = LINE.fullmatch(text)
        assert match is not None, text
        index, runtime, rate, images, build, elapsed, real, batch = match.groups()
        assert (int(index), runtime) == (number, ("dsp_fixed8_tf", "cpu_float32")[number])
        assert int(images) == thread["inferences"] > 1
        assert float(rate) == pytest.approx(thread["inferences_per_second"], abs=1e-4)
        assert int(elapsed) == pytest.approx(thread["elapsed_us"], abs=1)
        assert int(real) == pytest.approx(sum(thread["latencies_us"]), abs=1)
        assert (int(build) > 0, batch) == (True, "1")
    assert total == f"Total throughput: {document['total']['inferences_per_second']:.4f} infs/sec"


def test_user_buffers_are_those_of_all_threads(tool: Tool, command: Tool, tmp_path: Path) -> None:
    """Codes as buffers leave out the conversion of floats, as --buffer tf8 does."""
    line = f"{RUN} --use_dsp --duration 0.01 --enable_init_cache --perf_profile burst"
    assert tool(f"{line} --userbuffer_tf8 --json t.json").code == 0
    ours = (
        "throughput --chip sd835 "
        "q.dlc --runtime dsp --perf-profile burst --duration-ms 10 --json o.json"
    )
    assert command(f"{ours} --buffer tf8").code == 0
    assert (tmp_path / "t.json").read_bytes() == (tmp_path / "o.json").read_bytes()
    assert tool(f"{line} --json t.json").code == 0
    assert (tmp_path / "t.json").read_bytes() != (tmp_path / "o.json").read_bytes()
    code, _, err = tool(f"{line} --userbuffer_tf8 --container m.dlc --use_cpu")
    assert (code, "compute in their width; leave --userbuffer_... out" in err) == (2, True)


def test_the_time_to_build_is_that_of_the_log(tool: Tool) -> None:
    match = LINE.match(tool(f"{RUN} --use_dsp --iterations 2")[1])
    assert match is not None
    assert match[4] == "2"
    assert tool("snpe-net-run --container q.dlc --input_list list.txt --use_dsp").code == 0
    assert f"\nInit: {match[5]} us\n" in tool("snpe-diagview --input_log output/SNPEDiag_0.log")[1]


def test_each_thread_has_its_profile(tool: Tool) -> None:
    """Clocks are those of the highest vote, and the way into the DSP is each thread's own."""
    both = "--container q.dlc --use_dsp --iterations 5"
    profiles = "--perf_profile burst --perf_profile power_saver"
    mixed = tool(f"{RUN} --use_dsp {both} {profiles}")[1].splitlines()
    alike = tool(f"{RUN} --use_dsp {both} --perf_profile burst")[1].splitlines()
    rates = [[float(LINE.match(text)[3]) for text in lines[:2]] for lines in (mixed, alike)]
    assert rates[0][1] < rates[1][1]


def test_an_order_takes_the_first_runtime_that_there_is(tool: Tool) -> None:
    line = f"{RUN} --iterations 2"
    ordered = tool(f"{line} --runtime_order aip_fixed8_tf,dsp_fixed8_tf,cpu_float32")
    assert ordered == tool(f"{line} --use_dsp --enable_cpu_fallback")
    assert "[Thread 0 - dsp_fixed8_tf]" in ordered[1]


def test_images_of_a_batch_are_counted(tool: Tool, tmp_path: Path) -> None:
    net = Sketch((2, 2, 2, 3))
    dlc.write(tmp_path / "b.dlc", Model(net.network(net.pool("in", kernel=1))))
    np.zeros(1).tofile(tmp_path / "x.raw")
    line = "snpe-throughput-net-run --container b.dlc --use_cpu --iterations 4"
    code, out, err = tool(f"{line} --input_raw x.raw --verbose --debug --storage_dir s")
    assert code == 0
    assert "Number of images processed: 8 - " in out
    assert out.splitlines()[0].endswith("Batch : 2")
    assert err.count("changes nothing") == 4


@pytest.mark.parametrize(
    ("flags", "sentence"),
    [
        ("", "give --duration or --iterations"),
        ("--iterations 3 --duration 1", "give --duration or --iterations"),
        ("--iterations 0", "0 inferences give no latency"),
        ("--iterations 1.5", "--iterations takes a whole number"),
        ("--duration 0", "a duration of 0 ms"),
        ("--duration 1 --use_dsp --use_cpu", "1 times --container and 2 times --use_..."),
        ("--iterations 1 --use_aip", "'aip' names no runtime of sd835"),
        ("--iterations 1 --runtime_order npu,cpu", "unknown runtime of --runtime_order 'npu'"),
        ("--iterations 1 --skip_execute", "--skip_execute: there is nothing to print"),
        ("--iterations 1 --json q.dlc", "'q.dlc' would overwrite an input"),
    ],
)
def test_refusals(flags: str, sentence: str, tool: Tool) -> None:
    code, out, err = tool(f"{RUN} {flags}")
    assert (code, out) == (2, "")
    assert sentence in err
    assert err.count("\n") == 1, err
