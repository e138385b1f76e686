"""Float layers among integer ones, from an ONNX file and a JSON file to answers and times."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import helper

from hexsim import dlc
from hexsim.api import model as api
from hexsim.quantization.model import Model

Command = Callable[[str], tuple[int, str, str]]
PADS = {"pads": (1, 1, 1, 1)}


@pytest.fixture
def folder(tmp_path: Path, onnx_model: Callable[..., onnx.ModelProto]) -> Path:
    """m.onnx (x -> conv1 -> a -> conv2 -> b -> conv3 -> y), list.txt with two inputs."""
    rng = np.random.default_rng(2)
    weights = {f"w{n}": rng.normal(0, 0.3, (4, 4, 3, 3)) for n in (1, 2, 3)}
    ends = ["x", "a", "b", "y"]
    nodes = [
        helper.make_node("Conv", [ends[n - 1], f"w{n}"], [ends[n]], f"conv{n}", **PADS)
        for n in (1, 2, 3)
    ]
    onnx.save(onnx_model(nodes, {"x": (1, 4, 8, 8)}, ["y"], weights), tmp_path / "m.onnx")
    for n in range(2):
        rng.normal(0, 1, (1, 8, 8, 4)).astype(np.float32).tofile(tmp_path / f"{n}.raw")
    (tmp_path / "list.txt").write_text("0.raw\n1.raw\n")
    return tmp_path


def overrides(folder: Path, **entry: object) -> None:
    whole = {"version": "0.6.1", "activation_encodings": {}}
    whole["param_encodings"] = {"w2": [{"dtype": "float", **entry}]}
    (folder / "e.json").write_text(json.dumps(whole))


def quantized(command: Command, options: str = "") -> Model:
    for line in (
        "convert m.onnx --quantization-overrides e.json",
        f"quantize m.dlc --input-list list.txt -o q.dlc --override-params {options}",
    ):
        code, _, err = command(line)
        assert code == 0, err
    model = dlc.read("q.dlc").model
    assert model.quantized
    return model


@pytest.mark.parametrize("bits", [16, 32])
def test_the_worked_example(command: Command, folder: Path, bits: int) -> None:
    overrides(folder, bitwidth=bits)
    model = quantized(command)
    converts = [f"a_convert_Float_{bits}", "b_convert_uFxp_8"]
    names = [layer.name for layer in model.network.layers]
    assert names == ["conv1", converts[0], "conv2", converts[1], "conv3"]
    code, out, _ = command("info q.dlc --layout snpe --json info.json")
    assert code == 0
    assert f"weight encoding: Float_{bits}" in out
    rows = {row["name"]: row for row in json.loads(Path("info.json").read_text())["layers"]}
    assert rows["conv2"]["floats"] == {"output": f"Float_{bits}", "weight": f"Float_{bits}"}
    assert rows["conv2"]["runtimes"] == ["gpu", "cpu", *["htp"] * (bits == 16)]
    code, out, _ = command("profile q.dlc --chip sd855 --runtime dsp --stack snpe-1.30")
    assert code == 0
    assert all(name in out for name in converts)
    code, _, err = command(
        "validate --chip sd835 q.dlc --input-list list.txt --sensitivity --explain"
    )
    assert code == 0, err
    network, picture = api.load("m.onnx"), np.fromfile("0.raw", np.float32).reshape(1, 8, 8, 4)
    raw = [np.fromfile(f"{n}.raw", np.float32).reshape(1, 8, 8, 4) for n in range(2)]
    sets = [array.transpose(0, 3, 1, 2) for array in raw]
    made = api.quantize(network, sets, overrides=api.read_overrides("e.json"))
    answers = [
        api.simulate(variant, "sd835", "dsp", picture.transpose(0, 3, 1, 2)).outputs
        for variant in (made, model)
    ]
    assert answers[0] is not None
    assert answers[1] is not None
    np.testing.assert_array_equal(answers[0]["y"], answers[1]["y"])


def test_a_width_that_the_file_does_not_state(command: Command, folder: Path) -> None:
    overrides(folder)
    assert quantized(command).floats["w2"] == 32
    assert quantized(command, "--float-bitwidth 16").floats["w2"] == 16
    assert "float_bitwidth=16" in dlc.read("q.dlc").metadata.quantizer_command


def test_a_whole_network_in_16_bits(
    command: Command, refused: Callable[[str], str], folder: Path
) -> None:
    """The answers are those of the file of 32 bits where both compute in float16."""
    for options in ("-o m.dlc", "-o half.dlc --float-bitwidth 16"):
        code, _, err = command(f"convert m.onnx {options}")
        assert code == 0, err
    half = dlc.read("half.dlc")
    assert half.metadata.converter_command.endswith("float_bitwidth=16")
    assert set(half.model.floats.values()) == {16}
    assert half.model.weight_bytes * 2 == dlc.read("m.dlc").model.weight_bytes
    picture = np.fromfile("0.raw", np.float32).reshape(1, 8, 8, 4).transpose(0, 3, 1, 2)
    single, double = (
        api.simulate(file, "sd8gen2", "htp_fp16", picture).outputs for file in ("half.dlc", "m.dlc")
    )
    assert single is not None
    assert double is not None
    np.testing.assert_array_equal(single["y"], double["y"])
    overrides(folder)
    line = "convert m.onnx -o no.dlc --float-bitwidth"
    assert "16 makes all tensors float" in refused(f"{line} 16 --quantization-overrides e.json")
    assert "is 16 or 32, not 8" in refused(f"{line} 8")


def test_differences_name_the_type(command: Command, folder: Path) -> None:
    overrides(folder, bitwidth=32)
    quantized(command)
    Path("q.dlc").rename("single.dlc")
    command("quantize m.dlc --input-list list.txt -o codes.dlc")
    _, out, _ = command("diff single.dlc codes.dlc")
    row = next(line for line in out.splitlines() if "conv2" in line and "weight encoding" in line)
    assert "Float_32" in row
    assert "bitwidth 8" in row


def test_what_is_refused(command: Command, refused: Callable[[str], str], folder: Path) -> None:
    overrides(folder, bitwidth=16)
    quantized(command)
    line = "quantize m.dlc --input-list list.txt -o r.dlc"
    assert "give --override-params too" in refused(f"{line} --float-bitwidth 16")
    message = refused(f"{line} --override-params --float-bitwidth 8")
    assert "floats can have 16 or 32 bits, not 8" in message
    message = refused(f"{line} --override-params --float-bias-bitwidth 8")
    assert "float biases can have 16 or 32 bits, not 8" in message
    message = refused("profile --chip sd835 q.dlc --runtime dsp --no-cpu-fallback")
    assert "cannot run on dsp" in message
    overrides(folder, bitwidth=8)
    assert "floats have 16 or 32 bits" in refused("convert m.onnx --quantization-overrides e.json")
