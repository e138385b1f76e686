"""Command lines of public guides and reports work as typed, with other names of files and tensors.

All runs and profiles (snpe-net-run, snpe-diagview) are ours, and those of qnn-net-run.
"""

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from benchmarks.published_recipes import NEEDS_HTP, RECIPES, Recipe
from tests.cli.conftest import Done

Tool = Callable[[str], Done]
QNN_RUN = "qnn-net-run --backend ./libQnnHtp.so --retrieve_context output/net_quantized.bin"


def test_there_are_ten() -> None:
    assert len({recipe.source for recipe in RECIPES}) == len(RECIPES) == 10


@pytest.mark.parametrize("chip", ["sd855", "sd8gen3"])
@pytest.mark.parametrize("recipe", RECIPES, ids=lambda recipe: recipe.title)
@pytest.mark.usefixtures("files")
def test_recipe_runs_to_its_profile(
    recipe: Recipe, chip: str, tool: Tool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HEXSIM_CHIP", chip)
    np.linspace(-1, 1, 48, dtype=np.float32).tofile(tmp_path / "a.raw")
    (tmp_path / "raw.txt").write_text("%y\nx:=a.raw\n" if recipe.tensors_in_list else "a.raw\n")
    encoding = {"bitwidth": 8, "min": 0.0, "max": 2.0}
    overrides = {"activation_encodings": {"y": [encoding]}, "param_encodings": {}}
    (tmp_path / "ranges.json").write_text(json.dumps(overrides))
    (tmp_path / "config_file.json").write_text("{}")
    on_qnn = False
    for line in recipe.lines:
        code, _, err = tool(line)
        needs_htp = line.startswith(NEEDS_HTP)
        if needs_htp and chip == "sd855":
            assert (code, "has no tensor processor" in err) == (2, True)
        else:
            assert code == 0, (line, err)
            on_qnn |= needs_htp
    if on_qnn:
        run, view = f"{QNN_RUN} --input_list raw.txt", "qnn-profile-viewer"
    else:
        container = f"--container {recipe.result} --input_list raw.txt"
        run, view = f"snpe-net-run {container} --use_dsp", "snpe-diagview"
    if recipe.not_on_sd855 and chip == "sd855":
        assert recipe.not_on_sd855 in tool(run).err
        run = run.removesuffix(" --use_dsp")
    assert tool(run).code == 0
    code, out, err = tool(f"{view} --input_log output/SNPEDiag_0.log")
    assert (code, "Total Inference Time: " in out) == (0, True), err
    values = np.fromfile(tmp_path / "output/Result_0/y.raw", np.float32)
    expected = np.maximum(np.linspace(-1, 1, 48), 0)
    # Half a step of the input and of the output, of at most 2 / 255 each; a float file that a DSP
    # quantises itself has ranges of its own, for seeded inputs.
    steps = 1 if recipe.result == "net_quantized.dlc" else 2
    assert np.abs(values - expected).max() <= steps * 2 / 255 + 1e-6


@pytest.mark.usefixtures("files")
def test_layout_says_what_is_assumed_or_is_refused(tool: Tool) -> None:
    line = "snpe-onnx-to-dlc -i m.onnx -o net.dlc --input_layout x"
    assert tool(f"{line} NCHW").code == 0
    code, _, err = tool(f"{line} NHWC")
    assert (code, "images are NCHW; leave it out" in err) == (2, True)


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (
            "snpe-dlc-quant --input_dlc m.dlc",
            "inputs to calibrate on are missing; give --input_list",
        ),
        ("snpe-onnx-to-dlc -i m.onnx --input_dtype -d x 1,64", "value of --input_dtype"),
    ],
)
def test_published_lines_that_are_refused(line: str, reason: str, tool: Tool) -> None:
    code, _, err = tool(line)
    assert (code, reason in err) == (2, True), err
