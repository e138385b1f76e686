"""`snpe-net-run` as typed: the files of `hexsim run`, and the times of `hexsim profile`."""

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnx
import pytest

from hexsim import dlc
from hexsim.datasheets.stacks import PROFILES as STACK_PROFILES
from hexsim.quantization.encodings import Encoding, input_codes
from hexsim.quantization.model import Model
from hexsim.snpe.bench.config import PROFILES
from hexsim.snpe.diag_log import read_diag_log
from hexsim.snpe.option import Effect
from hexsim.snpe.tool import TOOLS
from tests import own_layers
from tests.accuracy import culprits
from tests.cli.conftest import Done
from tests.deployed import deployed
from tests.small_networks import Sketch

Tool = Callable[[str], Done]
RUN = "snpe-net-run --container q.dlc --input_list list.txt"
RULE = "-" * 79

pytestmark = pytest.mark.usefixtures("files")


def raws(folder: Path) -> dict[str, bytes]:
    return {p.relative_to(folder).as_posix(): p.read_bytes() for p in folder.rglob("*.raw")}


@pytest.mark.parametrize(
    ("flags", "runtime"),
    [
        ("", "cpu"),
        ("--use_gpu", "gpu"),
        ("--use_gpu --gpu_mode float16", "gpu_fp16"),
        ("--use_dsp", "dsp"),
        ("--use_fxp_cpu", "fxp_cpu"),
        ("--use_aip --chip sd855", "aip"),
        ("--use_dsp --enable_cpu_fallback", "dsp"),
        ("--runtime_order dsp_fixed8_tf,cpu_float32", "dsp"),
        ("--runtime_order=AIP,GPU_FLOAT16", "gpu_fp16"),
        ("--use_dsp --debug --priority_hint high --duration 3", "dsp"),
        ("--use_dsp --set_output_tensors c1.out,in --platform_options unsignedPD:ON", "dsp"),
    ],
)
def test_outputs_are_those_of_our_command(
    flags: str, runtime: str, tool: Tool, command: Tool, tmp_path: Path
) -> None:
    code, out, err = tool(f"{RUN} {flags} --output_dir theirs")
    assert code == 0, err
    ours = [f"--{word}" for word in flags.split("--") if word.startswith(("debug", "set_", "chip"))]
    line = (
        "run --chip sd835 "
        f"q.dlc --input-list list.txt --runtime {runtime.upper()} {' '.join(ours)} -o ours"
    )
    assert command(line).code == 0
    assert raws(tmp_path / "theirs") == raws(tmp_path / "ours") != {}
    lines = [f"Processing DNN input(s):\n{index}.raw\n" for index in range(3)]
    assert out.startswith(f"{RULE}\nSNPE v1.")
    assert out.endswith(f"{RULE}\n{''.join(lines)}")


def test_the_tree_is_theirs(tool: Tool, tmp_path: Path) -> None:
    assert tool(f"{RUN} --use_dsp")[0] == 0
    written = {p.relative_to(tmp_path).as_posix() for p in (tmp_path / "output").rglob("*")}
    results = {f"output/Result_{index}" for index in range(3)}
    files = {f"{folder}/scores.raw" for folder in results}
    assert written == results | files | {"output/SNPEDiag_0.log"}


@pytest.mark.parametrize("profile", ["default", "burst"])
@pytest.mark.parametrize(
    ("flags", "ours"),
    [
        ("--use_dsp", "--runtime dsp"),
        ("", "--runtime cpu"),
        ("--use_dsp --userbuffer_tf8", "--runtime dsp --buffer tf8"),
        ("--use_dsp --userbuffer_float", "--runtime dsp --buffer float"),
        ("--use_dsp --userbuffer_tfN 16", "--runtime dsp --buffer float"),
        ("--use_dsp --userbuffer_auto", "--runtime dsp --buffer tf8"),
    ],
)
def test_the_log_is_the_simulation(
    flags: str, ours: str, profile: str, tool: Tool, command: Tool, tmp_path: Path
) -> None:
    assert tool(f"{RUN} {flags} --perf_profile {profile}")[0] == 0
    line = f"profile --chip sd835 q.dlc {ours} --perf-profile {profile} --json p.json"
    assert command(line).code == 0
    (result,) = json.loads((tmp_path / "p.json").read_text())["results"]
    head, rows = read_diag_log(tmp_path / "output/SNPEDiag_0.log")
    assert (head["perf_profile"], head["inferences"]) == (profile, 3)
    by_name = {row.name: row for row in rows}
    expected = {
        "Init": result["initialisation_total_us"],
        "Total Inference Time": result["total_inference_us"],
        "Forward Propagate Time": result["forward_propagate_us"],
        **{layer["name"]: layer["us"] for layer in result["layers"]},
    }
    for name, us in expected.items():
        assert by_name[name].ps == round(us * 1e6), name
        assert by_name[name].us == int(us + 0.5), name
    layers = [row for row in rows if row.block == "layer"]
    assert [row.id for row in layers] == list(range(6))
    assert {row.runtime for row in layers[1:]} == {"DSP" if "dsp" in ours else "CPU"}


@pytest.mark.parametrize(
    ("level", "blocks"),
    [("basic", (5, 1, 0)), ("moderate", (7, 5, 0)), ("detailed", (7, 6, 6))],
)
def test_levels_and_how_they_are_shown(
    level: str, blocks: tuple[int, ...], tool: Tool, tmp_path: Path
) -> None:
    assert tool(f"{RUN} --use_dsp --profiling_level {level}")[0] == 0
    _, rows = read_diag_log(tmp_path / "output/SNPEDiag_0.log")
    counts = tuple(sum(r.block == b for r in rows) for b in ("init", "inference", "layer"))
    assert counts == blocks
    code, out, err = tool("snpe-diagview --input_log output/SNPEDiag_0.log --output rows.csv")
    assert (code, err) == (0, "")
    assert out.startswith("Log File Created: ")
    title = "Dnn Runtime Load/Deserialize/Create/De-Init Statistics:"
    assert f"{title}\n{'-' * 50}\nLoad: " in out
    assert f"Average SNPE Statistics:\n{'-' * 30}\nTotal Inference Time: " in out
    assert (f"Layer Times:\n{'-' * 15}\n0: 0 us : CPU\n1: " in out) == (level == "detailed")
    shown = [line.split(": ")[0] for line in out.splitlines() if " us" in line]
    assert shown == [row.name if row.id is None else str(row.id) for row in rows]
    lines = (tmp_path / "rows.csv").read_text().splitlines()
    assert lines[0] == "block,id,name,type,us,runtime"
    assert len(lines) == 1 + len(rows)


def test_no_log_without_profiling(tool: Tool, tmp_path: Path) -> None:
    assert tool(f"{RUN} --profiling_level off").code == 0
    assert not (tmp_path / "output/SNPEDiag_0.log").exists()


def test_codes_of_inputs(tool: Tool, tmp_path: Path) -> None:
    """Each input has a range of its own, unless the model's is asked for."""
    for flags in ("", "--userbuffer_tf8", "--userbuffer_tf8 --static_min_max"):
        assert tool(f"{RUN} --use_dsp {flags} --output_dir o{len(flags)}").code == 0
    floats, own, static = (raws(tmp_path / f"o{size}") for size in (0, 16, 33))
    assert static == floats != own
    executor = deployed(culprits.quantized("outlier"), "dsp").executor()
    for index, feed in enumerate(culprits.inputs(3)):
        encoding = Encoding.from_range(float(feed["in"].min()), float(feed["in"].max()))
        seen = encoding.dequantize(input_codes(feed["in"], encoding))
        (expected,) = executor.run({"in": seen}).values()
        assert own[f"Result_{index}/scores.raw"] == expected.tobytes()


@pytest.mark.parametrize("width", [8, 16])
def test_files_of_codes(width: int, tool: Tool, tmp_path: Path) -> None:
    """The model's encoding stands behind the codes of native files, on both sides."""
    model = culprits.quantized("outlier")
    kinds = {name: model.encoding(name) for name in ("in", "scores")}
    if width == 16:
        kinds = {n: Encoding.from_range(e.min, e.max, 16) for n, e in kinds.items()}
    executor = deployed(model, "dsp").executor()
    for index, feed in enumerate(culprits.inputs(3)):
        codes = kinds["in"].quantize(feed["in"]).astype(f"<u{width // 8}")
        codes.tofile(tmp_path / f"{index}.raw")
    native = "--use_native_input_files --use_native_output_files"
    assert tool(f"{RUN} --use_dsp --userbuffer_tfN {width} {native}").code == 0
    for index in range(3):
        codes = np.fromfile(tmp_path / f"{index}.raw", f"<u{width // 8}").reshape(1, 8, 8, 8)
        (floats,) = executor.run({"in": kinds["in"].dequantize(codes)}).values()
        expected = kinds["scores"].quantize(floats).astype(f"<u{width // 8}")
        assert (tmp_path / f"output/Result_{index}/scores.raw").read_bytes() == expected.tobytes()


def test_files_of_half_floats(tool: Tool, tmp_path: Path) -> None:
    native = "--userbuffer_floatN_output 16 --use_native_output_files"
    assert tool(f"{RUN} {native}").code == 0
    assert tool(f"{RUN} --output_dir full").code == 0
    for name, data in raws(tmp_path / "full").items():
        halves = np.frombuffer(data, "<f4").astype("<f2")
        assert raws(tmp_path / "output")[name] == halves.tobytes()


def test_batches_are_filled_up(tool: Tool, tmp_path: Path) -> None:
    net = Sketch((2, 2, 2, 3))
    dlc.write(tmp_path / "b.dlc", Model(net.network(net.pool("in", kernel=1))))
    for index in range(3):
        np.full((1, 2, 2, 3), index, np.float32).tofile(tmp_path / f"{index}.raw")
    code, out, _ = tool("snpe-net-run --container b.dlc --input_list list.txt")
    assert code == 0
    assert "Applying padding: the last batch holds 1 of 2 items\n" in out
    for index in range(3):
        (raw,) = (tmp_path / f"output/Result_{index}").iterdir()
        assert np.fromfile(raw, "<f4").tolist() == [index] * 12


def test_the_list_and_the_options_name_outputs(tool: Tool, tmp_path: Path) -> None:
    (tmp_path / "list.txt").write_text("#c0\n%c1.out\nin:=0.raw\n")
    line = f"{RUN} --use_dsp --set_output_tensors c2.out --set_unconsumed_as_output"
    assert tool(line).code == 0
    names = {path.stem for path in (tmp_path / "output/Result_0").iterdir()}
    assert names == {"c0.out", "c1.out", "c2.out", "scores"}


def test_inputs_of_another_shape(
    tool: Tool, tmp_path: Path, onnx_model: Callable[..., onnx.ModelProto]
) -> None:
    """Shapes are in the order of the files: an image's channels come last."""
    node = onnx.helper.make_node("MaxPool", ["x"], ["y"], "pool", kernel_shape=[2, 2])
    onnx.save(onnx_model([node], {"x": (1, 3, 4, 4)}, ["y"], {}), tmp_path / "p.onnx")
    assert tool("snpe-onnx-to-dlc -i p.onnx").code == 0
    np.arange(5 * 6 * 3, dtype=np.float32).tofile(tmp_path / "x.raw")
    (tmp_path / "x.txt").write_text("x.raw\n")
    line = "snpe-net-run --container p.dlc --input_list x.txt"
    code, _, err = tool(line)
    assert (code, "inappropriate number of bytes" in err) == (2, True)
    code, _, err = tool(f"{line} --input_name x --input_dimensions 1,5,6,3")
    assert code == 0, err
    (raw,) = (tmp_path / "output/Result_0").iterdir()
    assert np.fromfile(raw, "<f4").reshape(4, 5, 3)[-1, -1].tolist() == [87, 88, 89]


def test_profiles_are_those_of_the_stacks() -> None:
    assert set(PROFILES) == set(STACK_PROFILES) | {"default"}


@pytest.mark.slow
def test_every_option_that_is_taken_runs(tool: Tool) -> None:
    """All at once is not possible, so each by itself."""
    words = {
        "--input_name": "--input_name in --input_dimensions 1,8,8,8",
        "--input_dimensions": "",
        "--use_aip": "--use_aip --chip sd855",
        "--use_htp": "--use_htp --chip sd8gen3",
        "--chip": "--chip sd845",
        "--stack": "--stack snpe-1.30",
        "--runtime_order": "--runtime_order cpu",
        "--set_output_tensors": "--set_output_tensors in",
        "--output_dir": "--output_dir there",
        "--profiling_level": "--profiling_level moderate",
        "--udl": f"--udl '{own_layers.FILE}' ENERGY",
    }
    for option in TOOLS["snpe-net-run"].options:
        if option.is_required or (
            isinstance(option.effect, Effect) and option.effect.kind == "refused"
        ):
            continue
        for value in option.known[-1:] or (("3",) if option.values else ("",)):
            typed = words.get(option.name, f"{option.name} {value}")
            code, _, err = tool(f"{RUN} {typed}")
            assert code == 0, (typed, err)


@pytest.mark.parametrize(
    ("flags", "sentence"),
    [
        ("--use_aip --debug --chip sd855", "--debug is not for aip"),
        ("--runtime_order dsp,npu", "unknown runtime of --runtime_order 'npu'"),
        ("--runtime_order aip", "names no runtime of sd835"),
        ("--perf_profile fastest", "unknown value of --perf_profile 'fastest'"),
        ("--profiling_level linting", "--profiling_level linting: times of the tensor processor"),
        ("--userbuffer_tfN 4", "unknown value of --userbuffer_tfN '4'; known: 16, 8"),
        ("--input_name in", "--input_name and --input_dimensions come in pairs"),
        ("--encoding_type nv21", "--encoding_type: the format belongs to the model"),
        ("--set_output_tensors nope", "unknown tensor 'nope'"),
        ("--userbuffer_tf8 --use_native_input_files", "has inappropriate number of bytes"),
        ("--output_dir q.dlc", "cannot make folder 'q.dlc'"),
        ("--stack qnn-2.45 --chip nope", "unknown chip 'nope'"),
    ],
)
def test_refusals(flags: str, sentence: str, tool: Tool) -> None:
    code, _, err = tool(f"{RUN} {flags}")
    assert code == 2
    assert sentence in err
    assert err.startswith("snpe-net-run: ")
    assert err.count("\n") == 1


def test_codes_need_an_encoding(tool: Tool) -> None:
    line = "snpe-net-run --container m.dlc --input_list list.txt --userbuffer_tf8"
    code, _, err = tool(line)
    assert code == 2
    assert "a tf8 buffer of tensor 'scores' needs its encoding" in err
    assert tool(f"{line} --use_dsp").code == 0, "which quantises it at load"


def test_a_layer_that_is_refused_falls_back_only_if_asked(
    tool: Tool, tmp_path: Path, onnx_model: Callable[..., onnx.ModelProto]
) -> None:
    node = onnx.helper.make_node("Hardmax", ["x"], ["y"], "hard")
    onnx.save(onnx_model([node], {"x": (1, 3, 4, 4)}, ["y"], {}), tmp_path / "h.onnx")
    assert tool("snpe-onnx-to-dlc -i h.onnx").code == 0
    np.zeros(48, np.float32).tofile(tmp_path / "x.raw")
    (tmp_path / "x.txt").write_text("x.raw\n")
    line = "snpe-net-run --container h.dlc --input_list x.txt"
    code, _, err = tool(f"{line} --use_dsp")
    assert (code, "'hard'" in err) == (2, True)
    assert tool(f"{line} --use_dsp --enable_cpu_fallback").code == 0
    assert tool(f"{line} --runtime_order dsp,cpu").code == 0
