"""Overrides from a file to the codes: convert keeps them, quantize applies and reports them."""

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import helper

from hexsim import dlc
from hexsim.api import model as api
from hexsim.errors import HexsimError
from hexsim.quantization.encodings import Encoding
from hexsim.quantization.overrides import NO_OVERRIDES, IntegerOverride, Range

Command = Callable[[str], tuple[int, str, str]]

ENCODINGS = {
    "version": "0.6.1",
    "activation_encodings": {
        "x": [{"bitwidth": 8, "min": -4.0, "max": 4.0, "is_symmetric": "False", "dtype": "int"}],
        "c": [{"bitwidth": 8, "min": -9.0, "max": 9.0}],
        "r": [{"bitwidth": 8, "min": 0.0, "max": 7.5}],
        "y": [{"bitwidth": 16, "dtype": "float"}],
        "rr": [{"bitwidth": 8, "min": 0.0, "max": 1.0}],
    },
    "param_encodings": {
        "w": [
            {"bitwidth": 8, "min": -128 * d, "max": 127 * d, "scale": d, "offset": -128}
            | {"is_symmetric": "True"}
            for d in (0.05, 0.025)
        ],
        "b": [{"bitwidth": 32, "min": -1.0, "max": 1.0, "is_symmetric": "True"}],
    },
}


@pytest.fixture
def folder(tmp_path: Path, onnx_model: Callable[..., onnx.ModelProto]) -> Path:
    """m.onnx (x -> Conv -> c -> Relu -> r -> Tanh -> y), e.json for it, list.txt."""
    rng = np.random.default_rng(2)
    weights = {"w": rng.normal(0, 1, (2, 3, 1, 1)), "b": np.array([0.5, -0.25])}
    nodes = [
        helper.make_node("Conv", ["x", "w", "b"], ["c"], "conv"),
        helper.make_node("Relu", ["c"], ["r"], "relu"),
        helper.make_node("Tanh", ["r"], ["y"], "tanh"),
    ]
    onnx.save(onnx_model(nodes, {"x": (1, 3, 4, 4)}, ["y"], weights), tmp_path / "m.onnx")
    (tmp_path / "e.json").write_text(json.dumps(ENCODINGS))
    rng.normal(0, 1, (1, 4, 4, 3)).astype(np.float32).tofile(tmp_path / "0.raw")
    (tmp_path / "list.txt").write_text("0.raw\n")
    return tmp_path


def convert(command: Command, options: str = "--quantization-overrides e.json") -> None:
    code, _, err = command(f"convert m.onnx {options}")
    assert code == 0, err


@pytest.mark.usefixtures("folder")
def test_the_float_file_keeps_them(command: Command) -> None:
    code, out, err = command("convert m.onnx --quantization-overrides e.json")
    assert (code, out.count("\n")) == (0, 1)
    assert "Kept 7 quantization overrides" in err
    read = dlc.read("m.dlc")
    assert read.overrides.activations["r"] == IntegerOverride(8, (Range(0.0, 7.5),))
    assert read.overrides.absorbed == {"c": "conv"}
    assert read.overrides == api.read_overrides("m.dlc")
    assert "quantization_overrides=e.json" in read.metadata.converter_command


@pytest.mark.usefixtures("folder")
def test_without_the_flag_they_are_not_applied_and_it_is_said(command: Command) -> None:
    convert(command)
    _, _, err = command("quantize m.dlc --input-list list.txt -o q.dlc")
    assert "warning: the file holds 7 overrides; give --override-params to use them\n" in err
    convert(command, "-o plain.dlc")
    _, _, plain = command("quantize plain.dlc --input-list list.txt -o p.dlc")
    assert "overrides" not in plain
    with_them, without = (dlc.read(name).model for name in ("q.dlc", "p.dlc"))
    assert with_them.quantized
    assert without.quantized
    assert with_them.activations == without.activations
    assert with_them.parameters == without.parameters


def test_with_the_flag_they_are_applied_and_reported(command: Command, folder: Path) -> None:
    convert(command)
    code, _, err = command(
        "quantize m.dlc --input-list list.txt -o q.dlc --override-params "
        "--encodings-report report.json"
    )
    assert code == 0
    read = dlc.read("q.dlc")
    assert read.model.quantized
    assert read.model.activations["r"] == Encoding.from_range(0.0, 7.5)
    assert [c.delta for c in read.model.parameters["w"].channels] == [0.05, 0.025]  # type: ignore[union-attr]
    assert "b" not in read.model.parameters
    assert len(read.overrides) == 0
    assert "override_params=True" in read.metadata.quantizer_command
    lines = [line for line in err.splitlines() if "override" in line.lower()]
    assert lines[:5] == [
        "override of activation 'x' applied",
        "warning: override of activation 'c' ignored: tensor was absorbed into layer 'conv', "
        "which writes 'r'",
        "override of activation 'r' applied",
        "override of activation 'y' applied: layer 'tanh' is float16",
        "warning: override of activation 'rr' unmatched: no such tensor; the nearest is 'r'",
    ]
    assert lines[-2] == "Overrides: 5 applied, 1 ignored, 1 unmatched"
    assert lines[-1] == "Encodings: 5 override, 1 float as their layer is"
    report = json.loads((folder / "report.json").read_text())
    assert [override["outcome"] for override in report["overrides"]].count("applied") == 5
    by_name = {encoding["name"]: encoding for encoding in report["encodings"]}
    assert by_name["r"]["origin"] == "override"
    assert by_name["r"]["encoding"]["max"] == 7.5
    assert (by_name["y"]["origin"], by_name["y"]["data_type"]) == ("override", "Float_16")
    assert by_name["y"]["encoding"] is None
    assert len(by_name["w"]["encoding"]["channels"]) == 2
    assert by_name["b"] == {
        "name": "b",
        "section": "parameter",
        "origin": "override",
        "data_type": None,
        "encoding": None,
    }


@pytest.mark.usefixtures("folder")
def test_info_tells_where_encodings_came_from(command: Command) -> None:
    convert(command)
    command("quantize m.dlc --input-list list.txt -o q.dlc --override-params")
    _, out, _ = command("info q.dlc --layout snpe --json info.json")
    assert "weight encoding from: override" in out
    assert "output encoding: Float_16" in out
    layers = json.loads(Path("info.json").read_text())["layers"]
    assert layers[1]["origins"] == {"output": "override", "weight": "override", "bias": "override"}


@pytest.mark.usefixtures("folder")
def test_the_python_way_is_the_same(command: Command) -> None:
    convert(command)
    command("quantize m.dlc --input-list list.txt -o q.dlc --override-params")
    network = api.load("m.onnx")
    image = np.fromfile("0.raw", np.float32).reshape(1, 4, 4, 3).transpose(0, 3, 1, 2)
    quantized = api.quantize(network, [image], overrides=api.read_overrides("e.json"))
    from_file = dlc.read("q.dlc").model
    assert from_file.quantized
    assert quantized.activations == from_file.activations
    assert quantized.parameters == from_file.parameters
    outcomes = {override.key: override for override in quantized.overrides}
    assert outcomes["c"].outcome == "ignored", "what was absorbed is known here too"


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ("{", "overrides 'o.json', line 1: "),
        ('{"activation_encodings": {}}', "section 'param_encodings' is missing"),
        (
            '{"activation_encodings": {"zz": [{"bitwidth": 8, "min": 0, "max": 1}]},'
            ' "param_encodings": {}}',
            "none of the 1 overrides names a tensor of network 'm'; they seem to be for another",
        ),
    ],
)
def test_files_that_convert_refuses(
    refused: Callable[[str], str], folder: Path, content: str, sentence: str
) -> None:
    (folder / "o.json").write_text(content)
    assert sentence in refused("convert m.onnx --quantization-overrides o.json")
    assert sentence in refused("convert m.onnx --quantization-overrides o.json --dry-run")


def over_weight(**entry: object) -> str:
    whole = {"bitwidth": 8, "min": -1.0, "max": 1.0, **entry}
    return json.dumps({"activation_encodings": {}, "param_encodings": {"w": [whole]}})


@pytest.mark.parametrize(
    ("content", "options", "sentence"),
    [
        (
            over_weight(is_symmetric="False"),
            "--use-symmetric-quantize-weights",
            "Requested symmetric weights but instead got is_symmetric==False. (override of "
            "weight 'w')",
        ),
        (
            over_weight(is_symmetric="True", scale=1 / 127, offset=-127),
            "",
            "Invalid offset overridden for symmetric encodings got [-127], expected -128. "
            "(override of weight 'w')",
        ),
        (over_weight(bitwidth=6), "", "override of weight 'w': 6 bits cannot be stored"),
    ],
)
def test_overrides_that_quantize_refuses(
    command: Command, refused: Callable[[str], str], folder: Path, content: str, options: str,
    sentence: str,
) -> None:  # fmt: skip
    (folder / "e.json").write_text(content)
    convert(command)
    line = f"quantize m.dlc --input-list list.txt -o q.dlc --override-params {options}"
    assert sentence in refused(line)


@pytest.mark.usefixtures("folder")
def test_a_flag_without_overrides_and_a_report_over_a_model(
    command: Command, refused: Callable[[str], str]
) -> None:
    convert(command, "")
    line = "quantize m.dlc --input-list list.txt -o q.dlc"
    assert "holds no overrides for --override-params" in refused(f"{line} --override-params")
    assert "would overwrite" in refused(f"{line} --encodings-report m.dlc")
    assert "two outputs" in refused(f"{line} --encodings-report q.dlc")
    assert "no such folder" in refused(f"{line} --encodings-report none/r.json")


NARROW = {"activation_encodings": {"r": [{"bitwidth": 8, "min": 0.0, "max": 0.5}]}}


@pytest.mark.parametrize(
    "line",
    [
        "bench --chip sd835 --model {} --runtime dsp",
        "bench --model {} --chip sd865 --runtime dsp",
        "profile --chip sd835 {}",
        "validate --chip sd835 {}",
        "decide {} --files --chips sd835",
        "run --chip sd835 {} --input-list list.txt",
        "throughput --chip sd835 {} --inferences 1",
    ],
)
def test_what_quantizes_by_itself_applies_them_if_asked_and_tells(
    command: Command, refused: Callable[[str], str], folder: Path, line: str
) -> None:
    (folder / "e.json").write_text(json.dumps({**NARROW, "param_encodings": {}}))
    convert(command)
    convert(command, "-o plain.dlc")
    code, out, err = command(f"{line.format('m.dlc')} --override-params")
    assert code == 0
    assert "overrides of the file: 1 applied, 0 ignored, 0 unmatched" in out + err
    _, out, err = command(line.format("m.dlc"))
    assert "overrides of the file not applied: 1 (--override-params" in out + err
    _, out, err = command(line.format("plain.dlc"))
    assert "overrides" not in out + err
    plain = line.format("plain.dlc")
    assert "holds no overrides for --override-params" in refused(f"{plain} --override-params")


def test_they_change_what_a_float_file_answers_and_costs_at_load(
    command: Command, folder: Path
) -> None:
    convert(command)
    read = dlc.read("m.dlc")
    assert not read.model.quantized
    x = np.random.default_rng(3).normal(0, 1, (1, 3, 4, 4))
    plain = api.simulate("m.dlc", inputs=x, chip="sd835")
    mixed = api.simulate("m.dlc", inputs=x, overrides=read.overrides, chip="sd835")
    assert plain.overrides == ()
    assert [override.outcome for override in mixed.overrides].count("applied") == 5
    quantized = api.simulate(
        api.quantize(read.model, overrides=read.overrides), inputs=x, chip="sd835"
    )
    assert mixed.outputs is not None
    assert quantized.outputs is not None
    np.testing.assert_array_equal(mixed.outputs["y"], quantized.outputs["y"])
    assert mixed.total_us == quantized.total_us != plain.total_us, "tanh runs on the CPU"
    assert "quantize" in {part.name for part in mixed.timing.init}
    assert "quantize" not in {part.name for part in quantized.timing.init}


@pytest.mark.usefixtures("folder")
def test_overrides_are_refused_where_nothing_is_quantized(command: Command) -> None:
    convert(command)
    command("quantize m.dlc --input-list list.txt -o q.dlc")
    overrides = api.read_overrides("m.dlc")
    with pytest.raises(HexsimError, match="'m' is not quantised at load on cpu"):
        api.simulate("m.dlc", runtime="cpu", overrides=overrides, chip="sd835")
    with pytest.raises(HexsimError, match="'m' is quantised already on dsp"):
        api.simulate("q.dlc", overrides=overrides, chip="sd835")


@pytest.mark.usefixtures("folder")
def test_the_flag_is_refused_for_what_is_quantized(
    command: Command, refused: Callable[[str], str]
) -> None:
    convert(command)
    command("quantize m.dlc --input-list list.txt -o q.dlc")
    for line in (
        "bench --chip sd835 --model q.dlc",
        "validate --chip sd835 q.dlc",
        "profile --chip sd835 q.dlc",
    ):
        assert "'q.dlc' is quantised already" in refused(f"{line} --override-params")
    assert "computes in floats" in refused(
        "validate --chip sd835 m.dlc --runtime cpu --override-params"
    )


@pytest.fixture
def qdq(tmp_path: Path, onnx_model: Callable[..., onnx.ModelProto]) -> Path:
    """qdq.onnx: x, coded with a step of 0.25, -> Tanh -> y, coded with a step of 0.125."""
    arrays = {"sx": 0.25, "zx": np.uint8(10), "sy": 0.125, "zy": np.uint8(8)}
    nodes = [
        helper.make_node("QuantizeLinear", ["x", "sx", "zx"], ["xq"]),
        helper.make_node("DequantizeLinear", ["xq", "sx", "zx"], ["xd"]),
        helper.make_node("Tanh", ["xd"], ["t"]),
        helper.make_node("QuantizeLinear", ["t", "sy", "zy"], ["tq"]),
        helper.make_node("DequantizeLinear", ["tq", "sy", "zy"], ["y"]),
    ]
    onnx.save(onnx_model(nodes, {"x": (1, 4)}, ["y"], arrays), tmp_path / "qdq.onnx")
    np.ones(4, np.float32).tofile(tmp_path / "x.raw")
    (tmp_path / "x.txt").write_text("x.raw\n")
    return tmp_path


@pytest.mark.usefixtures("qdq")
@pytest.mark.parametrize("converted", [False, True])
@pytest.mark.parametrize(
    ("option", "deltas"), [("", (0.25, 0.125)), ("--no-override-params", None)]
)
def test_encodings_of_the_files_own_nodes_are_taken_unless_refused(
    option: str, deltas: tuple[float, float] | None, converted: bool, command: Command
) -> None:
    if converted:
        assert command("convert qdq.onnx -o m.dlc")[0] == 0
    name = "m.dlc" if converted else "qdq.onnx"
    code, _, err = command(f"quantize {name} --input-list x.txt {option} -o q.dlc")
    assert code == 0, err
    model = dlc.read("q.dlc").model
    steps = tuple(model.activations[name].delta for name in ("x", "y"))
    assert steps == deltas if deltas else steps[0] < 0.1
    assert "give --override-params" not in err


def test_the_same_in_python(qdq: Path) -> None:
    file = qdq / "qdq.onnx"
    x = np.linspace(-1, 1, 4, dtype=np.float32).reshape(1, 4)
    taken = api.quantize(api.load(file), [x])
    assert taken.activations["x"].delta == 0.25
    assert taken.overrides
    for none in (
        api.quantize(api.load(file, own_encodings=False), [x]),
        api.quantize(api.load(file), [x], overrides=NO_OVERRIDES),
    ):
        assert none.activations["x"].delta < 0.1
    on_load = api.simulate(file, "sd835", "dsp", x)
    assert on_load.overrides
    codes = on_load.outputs["y"] / 0.125  # type: ignore[index]
    np.testing.assert_allclose(codes, np.round(codes), atol=1e-5)
    assert not api.simulate(file, "sd835", "cpu", x).overrides


@pytest.mark.usefixtures("qdq")
def test_a_run_says_how_many_were_taken(command: Command) -> None:
    code, _, err = command("run qdq.onnx --input-list x.txt --chip sd835 --runtime dsp -o out")
    assert code == 0
    assert "overrides of the file: 2 applied" in err


def test_a_vendors_weights_and_biases_keep_their_codes_in_the_file(
    tmp_path: Path, onnx_model: Callable[..., onnx.ModelProto], command: Command
) -> None:
    """Biases of 32 bits have the widest codes that there are."""
    rng = np.random.default_rng(1)
    arrays = {
        "wq": rng.integers(-127, 128, (4, 2, 1, 1)).astype(np.int8), "ws": np.float32(0.5),
        "bq": np.int32([7, -8, 9, 0]), "bs": np.float32(0.125),
    }  # fmt: skip
    nodes = [
        helper.make_node("DequantizeLinear", ["wq", "ws"], ["w"]),
        helper.make_node("DequantizeLinear", ["bq", "bs"], ["b"]),
        helper.make_node("Conv", ["x", "w", "b"], ["y"]),
    ]
    onnx.save(onnx_model(nodes, {"x": (1, 2, 4, 4)}, ["y"], arrays), tmp_path / "m.onnx")
    assert command("convert m.onnx -o m.dlc")[0] == 0
    kept = dlc.read("m.dlc").overrides.parameters
    assert kept["b"].ranges[0].offset == -(2**31)  # type: ignore[union-attr]
    np.ones(32, np.float32).tofile("x.raw")
    Path("x.txt").write_text("x.raw\n")
    assert command("quantize m.dlc --input-list x.txt -o q.dlc")[0] == 0
    assert dlc.read("q.dlc").model.parameters["w"].delta == 0.5
