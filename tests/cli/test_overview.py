"""`hexsim MODEL` answers in one block, with the figures of `hexsim profile`."""

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from msgspec.structs import replace

from hexsim.deployment.platform import Platform
from hexsim.reports.summary import overview_block
from hexsim.runtimes import Runtime
from hexsim.studies.benchmark import BenchmarkConditions, run_case
from tests.cli.conftest import Done

Command = Callable[[str], Done]


def test_the_block_has_the_figures_of_profile(command: Command, tmp_path: Path) -> None:
    code, out, err = command("squeezenet1_1 --chip sd855 --runtime gpu")
    assert (code, err) == (0, "")
    assert command("profile squeezenet1_1 --chip sd855 --runtime gpu --json p.json").code == 0
    (case,) = json.loads((tmp_path / "p.json").read_text())["results"]
    latency = re.search(r"^latency +(\S+) ms; (\S+) \.\. (\S+) ms with", out, re.MULTILINE)
    assert latency is not None
    milliseconds, low, high = map(float, latency.groups())
    assert milliseconds == pytest.approx(case["total_inference_us"] / 1e3, rel=5e-3)
    assert low < milliseconds < high
    layers = sorted(case["layers"], key=lambda layer: -layer["us"])[:5]
    total_us = case["total_inference_us"]
    shares = [f"{each['name']} ({each['type']}) {each['us'] / total_us:.0%}" for each in layers]
    assert ", ".join(shares) in out
    of_type = sum(each["us"] for each in case["layers"] if each["type"] == "convolutional")
    assert f"types          convolutional {of_type / total_us:.0%}, " in out
    assert "next step      hexsim models export squeezenet1_1" in out


def test_the_next_step_of_a_file_is_a_command_of_ours_and_of_snpe(
    command: Command, tmp_path: Path
) -> None:
    assert command("models export squeezenet1_1 --output m.onnx").code == 0
    (tmp_path / "m.dlc").touch()
    platform = Platform.load("sd855")
    convert = "snpe-onnx-to-dlc --input_network m.onnx --output_path m.dlc"
    steps: dict[Runtime, tuple[str, str]] = {
        "cpu": ("hexsim convert m.onnx", convert),
        "dsp": (
            "hexsim quantize m.onnx --input-list list.txt",
            f"{convert}, then snpe-dlc-quantize --input_dlc m.dlc --input_list list.txt",
        ),
    }
    for runtime, (ours, theirs) in steps.items():
        case = run_case("m.onnx", platform, runtime, BenchmarkConditions(accuracy=False))
        said = overview_block(case).splitlines()[-2:]
        assert said == [f"next step      {ours}", f"with SNPE      {theirs}"]
        shaped = replace(case, input_dims={"a b": (1, 3, 227, 227)})
        ours, theirs = (line[15:] for line in overview_block(shaped).splitlines()[-2:])
        assert ours.startswith("hexsim convert m.onnx --input-dim 'a b' 1,3,227,227")
        assert ours.endswith("hexsim quantize m.dlc --input-list list.txt") == (runtime == "dsp")
        assert theirs.startswith(f"{convert} --input_dim 'a b' 1,3,227,227")


def test_a_word_that_is_no_model_is_reported(refused: Callable[[str], str]) -> None:
    assert "did you mean bench?" in refused("benhc")
    assert "no such file: 'm.onnx'" in refused("m.onnx")
