"""Command lines of public guides and reports work as typed, with other file names only.

A comment names the source of the lines that convert and quantise, and which of them are ours to
make the sequence whole. All runs and profiles (snpe-net-run, snpe-diagview) are ours.
"""

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from tests.cli.conftest import Done

Tool = Callable[[str], Done]

QUANTIZE = "snpe-dlc-quantize --input_dlc net.dlc --input_list raw.txt"
RECIPES = {
    # MQBench, "SNPE": https://mqbench.readthedocs.io/en/latest/user_guide/deploy/snpe.html
    "encodings of training": (
        "snpe-onnx-to-dlc --input_network ./m.onnx --output_path ./net.dlc "
        "--quantization_overrides ./ranges.json",
        "snpe-dlc-quantize --input_dlc ./net.dlc --input_list ./raw.txt --override_params "
        "--bias_bitwidth 32",
    ),
    # "Running YoloNAS on Snapdragon 8 Gen 2": https://github.com/qualcomm/qidk/issues/28
    "three quantisers together": (
        "snpe-onnx-to-dlc -i m.onnx -o net.dlc",
        f"{QUANTIZE} --use_enhanced_quantizer --use_adjusted_weights_quantizer --axis_quant "
        "--output_dlc net_quantized.dlc",
    ),
    # "Add inference sample for SNPE EP C#"; the conversion is ours:
    # https://github.com/microsoft/onnxruntime-inference-examples/pull/156
    "VGG16": (
        "snpe-onnx-to-dlc -i m.onnx -o net.dlc",
        "snpe-dlc-quantize --input_dlc net.dlc --output_dlc net_quantized.dlc --input_list raw.txt",
    ),
    # "PySNPE support for SNPE v2.25"; quantising is ours:
    # https://github.com/qualcomm/qidk/issues/59
    "MiDaS": (
        "snpe-onnx-to-dlc -i m.onnx --input_dim x 1,3,4,4 --out_node y -o net.dlc",
        f"{QUANTIZE} --output_dlc net_quantized.dlc",
    ),
    # Put together from the descriptions of these options in the reference guide of SNPE 2.39.
    "graph prepared offline": (
        "snpe-onnx-to-dlc -i m.onnx -d x 1,3,4,4 --input_layout x NCHW -o net.dlc",
        f"{QUANTIZE} --output_dlc prepared.dlc",
        "snpe-dlc-graph-prepare --input_dlc=prepared.dlc --output_dlc=net_quantized.dlc "
        "--htp_socs=sm8650",
    ),
}
"""The lines from the ONNX file to net_quantized.dlc, by what the source is about."""


@pytest.mark.parametrize("chip", ["sd855", "sd8gen3"])
@pytest.mark.parametrize("recipe", RECIPES)
@pytest.mark.usefixtures("files")
def test_recipe_runs_to_its_profile(recipe: str, chip: str, tool: Tool, tmp_path: Path) -> None:
    np.linspace(-1, 1, 48, dtype=np.float32).tofile(tmp_path / "a.raw")
    (tmp_path / "raw.txt").write_text("a.raw\n")
    encoding = {"bitwidth": 8, "min": 0.0, "max": 2.0}
    overrides = {"activation_encodings": {"y": [encoding]}, "param_encodings": {}}
    (tmp_path / "ranges.json").write_text(json.dumps(overrides))
    run = f"--container net_quantized.dlc --input_list raw.txt --use_dsp --chip {chip}"
    profile = "snpe-diagview --input_log output/SNPEDiag_0.log"
    for line in (*RECIPES[recipe], f"snpe-net-run {run}", profile):
        code, out, err = tool(line)
        assert code == 0, (line, err)
    assert "Total Inference Time: " in out
    values = np.fromfile(tmp_path / "output/Result_0/y.raw", np.float32)
    expected = np.maximum(np.linspace(-1, 1, 48), 0)
    # Half a step of the input and of the output, of at most 2 / 255 each.
    assert np.abs(values - expected).max() <= 2 / 255 + 1e-6


@pytest.mark.usefixtures("files")
def test_layout_says_what_is_assumed_or_is_refused(tool: Tool) -> None:
    line = "snpe-onnx-to-dlc -i m.onnx -o net.dlc --input_layout x"
    assert tool(f"{line} NCHW").code == 0
    code, _, err = tool(f"{line} NHWC")
    assert (code, "images are NCHW; leave it out" in err) == (2, True)
