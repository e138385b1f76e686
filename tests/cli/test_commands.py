"""Benchmarks, profiles, lists, and what is said of mistakes."""

import csv
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from hexsim import models

Command = Callable[[str], tuple[int, str, str]]


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """A folder with a good model, a truncated one and a file that is no model."""
    models.export("conv1x1_768to768@1024x1", tmp_path / "probe.onnx")
    (tmp_path / "cut.onnx").write_bytes((tmp_path / "probe.onnx").read_bytes()[:3000])
    (tmp_path / "text.onnx").write_text("hello")
    return tmp_path


def test_a_profile_with_uncertainty_lists_every_constant_in_doubt(command: Command) -> None:
    code, out, err = command("profile --chip sd835 squeezenet1_1 --uncertainty --runtime gpu")
    assert (code, err) == (0, "")
    assert "ms, between" in out
    rows = {line.split()[0]: line.split() for line in out.splitlines() if line.startswith("gpu.")}
    assert rows.keys() >= {"gpu.efficiency", "gpu.layer_s", "gpu.fp32_flops_per_clk"}
    assert rows["gpu.layer_s"][1:3] == ["snpe-1.23", "calibrated"]


def test_code_buffers_spare_the_conversion_of_floats(command: Command) -> None:
    floats, codes = (
        command(f"profile --chip sd835 squeezenet1_1 --buffer {kind}")[1]
        for kind in ("float", "tf8")
    )
    assert "input_conversion" in floats
    assert "input_conversion" not in codes
    assert "high_performance, tf8 buffers" in codes
    code, _, err = command("bench --chip sd835 --model squeezenet1_1 --buffer tf9")
    assert code == 2
    assert "unknown buffer type of snpe-1.23 'tf9'; did you mean tf8" in err


def test_the_cpu_is_timed_as_the_release_was_or_as_its_cores_could(command: Command) -> None:
    def total_ms(options: str) -> float:
        code, out, err = command(
            f"bench --chip sd835 --model squeezenet1_1 --runtime cpu --timing-only{options}"
        )
        assert (code, err) == (0, "")
        (line,) = [line for line in out.splitlines() if line.startswith("total inference")]
        return float(line.split()[3])

    assert total_ms("") == pytest.approx(116, rel=0.1), "as it was measured"
    assert total_ms(" --ideal-cpu") < 116 / 4
    later = " --stack snpe-1.30"
    assert total_ms(later) == total_ms(f"{later} --ideal-cpu"), "nothing was published of it"


def test_bench_with_uncertainty_prints_intervals_and_where_they_come_from(
    command: Command, files: Path
) -> None:
    code, out, err = command(
        "bench --chip sd835 "
        "--model squeezenet1_1 --runtime dsp,cpu --timing-only --uncertainty one --ideal-cpu "
        "--json out.json --csv out.csv"
    )
    assert (code, err) == (0, "")
    assert "  between" in out
    assert "dsp's interval comes most from entry.input_conversion.clk_per_element" in out
    assert "[116!]" in out, "SNPE's CPU times are far from what the cores can do"
    dsp, cpu = json.loads((files / "out.json").read_text())["results"]
    low, high = dsp["uncertainty"]["total_inference_us"]
    assert low < dsp["total_inference_us"] < high
    assert cpu["uncertainty"]["measured_outside_ms"]["total_inference"] == [116.0]
    assert sum(c["share"] for c in dsp["uncertainty"]["constants"]) == pytest.approx(1)
    with (files / "out.csv").open() as file:
        row = next(r for r in csv.DictReader(file) if r["row"] == "Total Inference Time")
    assert float(row["us_low"]) == pytest.approx(low, abs=1e-3)
    assert float(row["us_high"]) == pytest.approx(high, abs=1e-3)


def test_bench_writes_table_json_and_csv(command: Command, files: Path) -> None:
    code, out, err = command(
        "bench --model conv1x1_1to1 --model probe.onnx --chip sd865 --runtime dsp,cpu "
        "--json out.json --csv out.csv"
    )
    assert (code, err) == (0, "")
    assert "conv1x1_1to1 on sd865, qnn-2.45, default" in out
    assert "[0.367]" in out, "the measured dispatch floor stands beside ours"
    document = json.loads((files / "out.json").read_text())
    assert document["hexsim_version"]
    results = document["results"]
    assert [(r["network"], r["runtime"]) for r in results] == [
        ("conv1x1_1to1", "dsp"),
        ("conv1x1_1to1", "cpu"),
        ("probe", "dsp"),
        ("probe", "cpu"),
    ]
    for result in results:
        parts = sum(layer["us"] for layer in result["layers"])
        parts += sum(part["us"] for part in result["overheads"])
        assert result["total_inference_us"] == pytest.approx(parts)
        assert result["forward_propagate_us"] <= result["total_inference_us"]
        assert {"name", "type", "engine", "cycles", "us", "macs", "ddr_bytes"} <= set(
            result["layers"][0]
        )
    assert results[0]["measured_ms"]["total_inference"] == [0.367]
    assert results[2]["measured_ms"]["total_inference"] == [], "a file is never a measured network"
    with (files / "out.csv").open() as file:
        rows = list(csv.DictReader(file))
    probe = [row for row in rows if (row["network"], row["runtime"]) == ("probe", "dsp")]
    dsp = {row["row"]: float(row["us"]) for row in probe}
    assert dsp["Init"] == pytest.approx(dsp["Load"] + dsp["Deserialize"] + dsp["Create"], abs=0.01)
    assert 0 < dsp["RPC Init Time"] < dsp["Create"]
    assert dsp["Init"] == pytest.approx(results[2]["initialisation_total_us"], abs=0.002)
    assert "initialisation (ms)" in out
    assert {row["row"] for row in rows} >= {
        "Total Inference Time",
        "Forward Propagate",
        "layer_000 (Name:input Type:data)",
        "layer_001 (Name:conv Type:convolutional)",
    }


def test_profile_adds_up_to_the_total(command: Command) -> None:
    code, out, err = command("profile squeezenet1_1 --chip sd835 --runtime dsp --all")
    assert (code, err) == (0, "")
    lines = out.splitlines()
    total = next(line.split()[2] for line in lines if line.startswith("total inference"))
    start = next(i for i, line in enumerate(lines) if line.startswith("---")) + 1
    end = next(i for i, line in enumerate(lines) if line.startswith("total inference"))
    spent = 0.0
    for line in lines[start:end]:
        cells = line.split()
        share = next(i for i, cell in enumerate(cells) if cell.endswith("%"))
        spent += float(cells[share - 1])
    assert spent == pytest.approx(float(total), rel=5e-3)
    assert "kernel" in next(line for line in lines if line.startswith("costed by"))
    assert lines[-1].startswith("initialisation before the first inference: ")
    assert "quantize" in lines[-1], "the float file is quantised at load"


def test_profile_writes_bytes_by_level_and_bounds(command: Command, files: Path) -> None:
    code, out, _ = command("profile squeezenet1_1 --chip sd855 --json out.json --csv out.csv")
    assert code == 0
    assert "DDR rd" in out
    (result,) = json.loads((files / "out.json").read_text())["results"]
    with (files / "out.csv").open() as file:
        rows = list(csv.DictReader(file))
    for row, layer in zip(rows, result["layers"], strict=True):
        assert layer["ddr_bytes"] == layer["ddr_read_bytes"] + layer["ddr_write_bytes"]
        assert sum(layer["parts_us"].values()) == pytest.approx(layer["us"])
        assert layer["parts_us"][layer["bound"]] == max(layer["parts_us"].values())
        for key in ("name", "ddr_read_bytes", "ddr_write_bytes", "l2_bytes", "vtcm_bytes", "bound"):
            assert row[key] == str(layer[key])
    assert any(layer["vtcm_bytes"] for layer in result["layers"])


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("chips list", "sd855"),
        ("chips show sd855", "dsp.hvx.contexts"),
        ("stacks list", "snpe-1.23"),
        ("stacks show snpe-1.30", "kernels.stall_factor"),
        ("models list", "mobilenet_v2"),
        ("--version", "hexsim "),
        ("--help", "bench"),
    ],
)
def test_lists_and_pages(command: Command, words: str, expected: str) -> None:
    code, out, err = command(words)
    assert (code, err) == (0, "")
    assert expected in out


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ("bench --chip sd835 --model cut.onnx", "'cut.onnx' is not an ONNX model or is truncated"),
        (
            "bench --chip sd835 --model text.onnx",
            "'text.onnx' is not an ONNX model or is truncated",
        ),
        ("bench --chip sd835 --model missing.onnx", "no such file: 'missing.onnx'"),
        ("bench --chip sd835 --model alexnt", "did you mean alexnet"),
        ("bench --chip sd83", "unknown chip 'sd83'; did you mean sd835"),
        ("bench --chip sd835 --stack snpe-1.2", "unknown stack 'snpe-1.2'; did you mean snpe-1.23"),
        ("bench --chip sd835 --runtime dps", "unknown runtime 'dps'; did you mean dsp"),
        ("bench --chip sd835 --runtime ,", "names no runtime"),
        ("bench --model probe.onnx --chip sd835 --runtime aip", "chip sd835 has no aip runtime"),
        (
            "bench --model probe.onnx --chip sd778g --runtime dsp",
            "chip sd778g cannot be simulated on dsp",
        ),
        (
            "bench --model probe.onnx --chip sd855 --runtime aip --no-quantize",
            "aip of snpe-1.30 refuses it",
        ),
        (
            "profile probe.onnx --chip sd865 --no-quantize",
            "dsp of qnn-2.45 refuses it: from release 2.0 on",
        ),
        (
            "bench --chip sd835 --model probe.onnx --runtime fxp_cpu --no-quantize",
            "is float and fxp_cpu of snpe-1.23 refuses",
        ),
        ("profile --chip sd835 probe.onnx --runtime dsp,cpu", "give one runtime"),
        ("profile --chip sd835 probe.onnx --json no/new.json", "cannot write"),
        (
            "profile --chip sd835 probe.onnx --perf-profile fast",
            "unknown performance profile 'fast'",
        ),
        ("profile --chip sd835 probe.onnx --input-dim input 1,x", "is not of the form"),
        ("profile --chip sd835 probe.onnx --input-dim input 1,3,7", "input shape 1,3,7"),
        ("models export alexnt -o new.onnx", "unknown network 'alexnt'"),
        ("models export conv1x1_1to1 -o no/new.onnx", "cannot write"),
        ("models export conv1x1_1to1 -o new.dlc", "'new.dlc' should end in .onnx; what is"),
        ("convert probe.onnx -o new.tflite", "'new.tflite' should end in .dlc; what is written"),
        ("profile probe.onnx --html page.pdf", "'page.pdf' should end in .html; what is written"),
        ("profile probe.onnx --idle-ms x", "--idle-ms': it should be a valid number; hexsim"),
        ("profile probe.onnx --chips sd855", "no option '--chips'; did you mean --chip?"),
        ("help", "'help' is an option: hexsim --help"),
        ("list chips", "'list' stands behind what is listed: hexsim chips list"),
        ("bench --chip sd835 --model probe.onnx --runtime dsp --json no/new.json", "cannot write"),
    ],
)
@pytest.mark.usefixtures("files")
def test_mistakes_are_one_sentence_and_exit_two(
    refused: Callable[[str], str], words: str, sentence: str
) -> None:
    assert sentence in refused(words)


def test_bench_beside_background_clients(command: Command, files: Path) -> None:
    line = "bench --model probe.onnx --chip sd845 --runtime dsp --timing-only --json out.json"
    code, quiet, err = command(line)
    assert (code, err) == (0, "")
    assert json.loads((files / "out.json").read_text())["results"][0]["background"] is None
    code, out, err = command(f"{line} --background audio --background camera")
    assert (code, err) == (0, "")
    assert out.startswith(quiet.rstrip().splitlines()[0])
    assert "probe on dsp beside audio, camera, 10 inferences in a row: alone" in out
    first = (files / "out.json").read_bytes()
    background = json.loads(first)["results"][0]["background"]
    assert background["loads"] == ["audio", "camera"]
    assert background["alone_us"] <= background["mean_us"] <= background["worst_us"]
    assert {client["name"] for client in background["clients"]} >= {
        "audio playback",
        "camera filter",
    }
    assert command(f"{line} --background audio --background camera")[1] == out
    assert (files / "out.json").read_bytes() == first, "equal inputs give byte-equal outputs"


def test_profile_beside_background_clients(command: Command, files: Path) -> None:
    code, out, err = command("profile probe.onnx --chip sd845 --background sensor-hub")
    assert (code, err) == (0, "")
    assert "sensor-hub fusion" in out
    assert "alone us  beside us  factor" in out


@pytest.mark.parametrize(
    ("option", "sentence"),
    [
        ("camra", "unknown background load 'camra'; did you mean camera?"),
        ("gone.toml", "cannot read datasheet 'gone.toml': No such file"),
        ("bad.toml", "bad.toml: key 'client.0.period_us' is -1; expected greater than or equal"),
    ],
)
def test_a_bad_background_is_reported(
    refused: Callable[[str], str], files: Path, option: str, sentence: str
) -> None:
    (files / "bad.toml").write_text(
        'name = "bad"\ntitle = "Bad"\n[[client]]\nname = "c"\nperiod_us = -1\n'
        'priority = 1\nunit = "scalar"\npackets = 5\n'
    )
    for line in ("bench --chip sd835 --model probe.onnx", "profile --chip sd835 probe.onnx"):
        assert sentence in refused(f"{line} --background {option}")
