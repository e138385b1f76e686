"""`hexsim convert` keeps what an ONNX file computes, and says what falls back."""

import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import helper

import hexsim
from hexsim import dlc, models
from hexsim.api.pictures import Steps
from hexsim.dlc.loading import load
from hexsim.errors import HexsimError
from hexsim.graph.network_ends import InputFormat
from hexsim.results.conversion import Conversion
from tests.frameworks.caffe.made import caffemodel, layer, net, stored

Command = Callable[[str], tuple[int, str, str]]


@pytest.fixture
def erf(tmp_path: Path, onnx_model: Callable[..., onnx.ModelProto]) -> None:
    nodes = [
        helper.make_node("Atan", ["x"], ["e"], name="strange"),
        helper.make_node("Relu", ["e"], ["y"], name="plain"),
    ]
    onnx.save(onnx_model(nodes, {"x": (1, 2, 4, 4)}, ["y"]), tmp_path / "erf.onnx")


def test_default_name_metadata_and_contents(command: Command, tmp_path: Path) -> None:
    models.export("conv1x1_8to4@5x5", tmp_path / "probe.onnx")
    code, out, err = command("convert probe.onnx --model-version v7")
    assert (code, err) == (0, "")
    assert re.fullmatch(
        r"wrote probe\.dlc: 1 layer, 800 MACs, 36 parameters; took \d+\.\d s here\n", out
    )
    read = dlc.read("probe.dlc")
    assert read.metadata.model_version == "v7"
    assert read.metadata.converter_command == (
        "hexsim convert input_dim=None input_encoding=None input_network=probe.onnx "
        "input_type=None model_version=v7 quantization_overrides=None"
    )
    network, stored = load("probe.onnx").network, read.model.network
    assert not read.model.quantized
    assert stored.layers == network.layers
    for name, constant in network.constants.items():
        assert (stored.constants[name].value() == constant.value()).all()


def test_equal_inputs_give_equal_bytes_wherever_they_are_written(
    command: Command, tmp_path: Path
) -> None:
    assert command("convert conv1x1_8to4@5x5 -o a.dlc")[0] == 0
    assert command("convert conv1x1_8to4@5x5 -o b.dlc")[0] == 0
    assert (tmp_path / "a.dlc").read_bytes() == (tmp_path / "b.dlc").read_bytes()


def test_input_dim_gives_a_shape(
    command: Command, tmp_path: Path, onnx_model: Callable[..., onnx.ModelProto]
) -> None:
    node = helper.make_node("Relu", ["x"], ["y"])
    onnx.save(onnx_model([node], {"x": ("n", 3, "h", "w")}, ["y"]), tmp_path / "m.onnx")
    assert command("convert m.onnx --input-dim x 1,3,6,8")[0] == 0
    read = dlc.read("m.dlc")
    assert read.model.network.tensors["y"].shape == (1, 6, 8, 3)
    assert "input_dim=x 1,3,6,8 " in read.metadata.converter_command


@pytest.mark.usefixtures("erf")
def test_dry_run_names_what_falls_back_and_writes_nothing(command: Command, tmp_path: Path) -> None:
    code, out, err = command("convert erf.onnx --dry-run")
    assert (code, err) == (0, "")
    (row,) = (line for line in out.splitlines() if line.startswith("strange"))
    assert "Atan" in row
    assert "gpu gpu_fp16 dsp aip" in row
    assert "no layer type on this runtime" in row
    assert "1 of 2 layers" in out, "an operator of elements takes them in any order"
    assert [path.name for path in tmp_path.iterdir()] == ["erf.onnx"]


@pytest.mark.usefixtures("erf")
def test_opaque_nodes_are_warned_of(command: Command) -> None:
    code, out, err = command("convert erf.onnx")
    assert (code, out.count("\n")) == (0, 1)
    assert "warning: node 'strange' (Atan)" in err


def test_dry_run_says_when_nothing_falls_back(command: Command) -> None:
    assert "takes all" in command("convert conv1x1_8to4@5x5 --dry-run")[1]


@pytest.mark.usefixtures("erf")
@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("convert none.onnx", "no such file: 'none.onnx'"),
        ("convert text.dlc", "'text.dlc' is a .dlc file already"),
        ("convert text.onnx", "not an ONNX model"),
        ("convert erf.onnx -o erf.onnx", "would overwrite an input"),
        ("convert erf.onnx -o ./erf.onnx", "would overwrite an input"),
        ("convert erf.onnx -o no/m.dlc", "cannot write 'no/m.dlc'"),
        ("convert erf.onnx --input-dim z 1,2,4,4", "unknown input"),
        (f"convert erf.onnx --model-version {'v' * 65}", "at most 64 ASCII"),
        ("convert erf.onnx --model-version \N{EURO SIGN}", "ASCII"),
    ],
)
def test_mistakes(refused: Callable[[str], str], tmp_path: Path, line: str, sentence: str) -> None:
    (tmp_path / "text.onnx").write_text("hello")
    (tmp_path / "text.dlc").write_text("hello")
    assert sentence in refused(line)


def test_types_and_encodings_of_inputs_are_kept_and_shown(command: Command, tmp_path: Path) -> None:
    models.export("conv1x1_3to4@6x8", tmp_path / "m.onnx")
    name = load("m.onnx").network.inputs[0]
    line = f"convert m.onnx --input-type {name} image --input-encoding {name} argb32"
    assert command(line)[0] == 0
    network = dlc.read("m.dlc").model.network
    assert network.input_formats == {name: InputFormat("image", "argb32")}
    assert network.layers[0].type == "color_space_conversion"
    out = command("info m.dlc --layout snpe").out  # type: ignore[attr-defined]
    assert out.count("input_encoding_in: argb32") == 2, "the input and the layer"
    assert out.count("input_encoding_out: bgr") == 2
    assert "input_type: image" in out
    assert f"input_encoding={name} argb32 " in out


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ("--input-type x picture", "unknown --input-type of input 'x', 'picture'"),
        ("--input-encoding x", "is not of the form 'NAME bgr'"),
        ("--input-encoding y rgb", "unknown input of network 'm' 'y'"),
        ("--input-encoding x rgb", "needs a picture"),
        ("--input-encoding x nv21 --input-type x opaque", "cannot be of type opaque"),
    ],
)
def test_mistakes_of_types_and_encodings(
    refused: Callable[[str], str],
    tmp_path: Path,
    onnx_model: Callable[..., onnx.ModelProto],
    options: str,
    sentence: str,
) -> None:
    node = helper.make_node("Relu", ["x"], ["y"])
    onnx.save(onnx_model([node], {"x": (1, 4, 6, 8)}, ["y"]), tmp_path / "m.onnx")
    assert sentence in refused(f"convert m.onnx {options}")


def test_a_prototxt_with_its_weights(command: Command, tmp_path: Path) -> None:
    weights, bias = np.ones((2, 3, 1, 1), np.float32), np.zeros(2, np.float32)
    parameters = "convolution_param { num_output: 2 kernel_size: 1 }"
    text = net(layer("c", "Convolution", "data", "c", parameters), data=(4, 3, 5, 5))
    stored(tmp_path, text)
    (tmp_path / "w.bin").write_bytes(caffemodel({"c": (weights, bias)}))
    code, _, err = command("convert net.prototxt")
    assert (code, "no caffemodel is beside it" in err) == (2, True)
    given = "--caffe-bin w.bin --input-dim data 1,3,5,5 --keep-batch-norm"
    assert command(f"convert net.prototxt {given}")[0] == 0
    read = dlc.read("net.dlc")
    assert read.model.network.tensors["c"].shape == (1, 5, 5, 2)
    assert read.metadata.converter_command.endswith("caffe_bin=w.bin keep_batch_norm=True")
    code, _, err = command("convert net.prototxt --caffe-bin w.bin -o w.bin")
    assert (code, "would overwrite an input" in err) == (2, True)


def test_the_function_writes_what_the_command_writes(command: Command, tmp_path: Path) -> None:
    models.export("conv1x1_3to4@6x8", tmp_path / "m.onnx")
    name = load("m.onnx").network.inputs[0]
    line = f"convert m.onnx -o c.dlc --json c.json --input-type {name} default --mean 127.5 --std 2"
    assert command(line)[0] == 0
    how: Steps = {"mean": 127.5, "std": 2}
    done = hexsim.convert("m.onnx", "f.dlc", input_type={name: "default"}, pictures=how)
    assert Path("f.dlc").read_bytes() == Path("c.dlc").read_bytes()
    written = Conversion.load("c.json")
    assert (written.file, done.file) == ("c.dlc", "f.dlc")
    assert written.layers == done.layers == len(load("c.dlc").network.layers)
    assert hexsim.convert("m.onnx").file is None


@pytest.mark.parametrize(
    ("how", "sentence"),
    [
        (
            {"input_type": {"input": "imag"}},
            "input_type of input 'input', 'imag'; did you mean image",
        ),
        ({"input_encoding": {"input": "xyz"}}, "input_encoding of input 'input', 'xyz'"),
        ({"pictures": {"mena": 1}}, "unknown step of pictures 'mena'; did you mean mean"),
        ({"pictures": {"fit": "zoom"}}, "unknown value of fit 'zoom'"),
        ({"float_bitwidth": 7}, "float_bitwidth is 16 or 32, not 7"),
        ({"model_version": "x" * 65}, "at most 64 ASCII"),
        ({"model_version": 3}, "model_version is 3 (int); hexsim.convert takes str"),
        ({"bits": 16}, "hexsim.convert takes no 'bits'"),
    ],
)
def test_mistakes_in_python(how: dict[str, object], sentence: str, tmp_path: Path) -> None:
    """With a file to write and without one."""
    for output in (None, tmp_path / "f.dlc"):
        with pytest.raises(HexsimError) as error:
            hexsim.convert("conv1x1_3to4@6x8", output, **how)  # type: ignore[arg-type]
        assert sentence in str(error.value)
    assert not (tmp_path / "f.dlc").exists()
