"""`snpe_bench.py` as typed: the tree and the tables of SNPE's, with the figures of snpe-net-run."""

import csv
import json
import math
import os
import shlex
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from benchmarks.pages import ROOT
from hexsim import dlc
from hexsim.onnx_io.float_engine import FloatEngine
from hexsim.snpe.bench.config import _ONLY_DEVICE
from hexsim.snpe.diag_log import read_diag_log
from tests.accuracy import culprits
from tests.cli.conftest import Done
from tests.deployed import deployed

Tool = Callable[[str], Done]
RUN = "snpe_bench.py -c config.json"
BASIC = ("Load", "Deserialize", "Create", "Init", "De-Init", "Total Inference Time")
MODERATE = (
    *BASIC[:5],
    *("Create Network(s)", "RPC Init Time", "Snpe Accelerator Init Time", "Accelerator Init Time"),
    *("Total Inference Time", "Forward Propagate", "RPC Execute", "Snpe Accelerator"),
    "Accelerator",
)
DETAILED = (
    *MODERATE,
    "Misc Accelerator",
    *("layer_000 (Name:in Type:data)", "layer_001 (Name:c0 Type:convolutional)"),
)

pytestmark = pytest.mark.usefixtures("files")


def config(folder: Path, **changes: Any) -> None:
    """Write config.json, as SNPE's guide has it, with some keys changed; None leaves one out."""
    entries: dict[str, Any] = {
        "Name": "Small",
        "HostRootPath": "small",
        "HostResultsDir": "small/results",
        "DevicePath": "/data/local/tmp/snpebm",
        "Devices": ["8998"],
        "HostName": "localhost",
        "Runs": 2,
        "Model": {"Name": "Q", "Dlc": "q.dlc", "InputList": "list.txt", "Data": ["data"]},
        "Runtimes": ["GPU", "CPU", "DSP"],
        "Measurements": ["timing"],
    }
    entries = {key: value for key, value in (entries | changes).items() if value is not None}
    (folder / "config.json").write_text(json.dumps(entries))


def results(folder: Path) -> Path:
    return folder / "small/results/latest_results"


def table(folder: Path, name: str = "Small") -> list[list[str]]:
    with (results(folder) / f"benchmark_stats_{name}.csv").open(newline="") as file:
        return list(csv.reader(file))


def figures(folder: Path, name: str = "Small") -> dict[str, dict[str, list[str]]]:
    """Column -> row -> its four cells."""
    rows = [row for row in table(folder, name) if row[:2] == ["", ""]]
    titles, _, *figures = rows
    return {
        title: {row[2]: row[at : at + 4] for row in figures}
        for at, title in enumerate(titles)
        if at > 2 and title
    }


def test_the_tree_and_the_head_of_the_csv(tool: Tool, tmp_path: Path) -> None:
    config(tmp_path, Measurements=["timing", "mem"])
    code, out, err = tool(f"{RUN} -json")
    assert code == 0, err
    assert err == (
        "[WARNING] DevicePath, HostName in the config: nothing changes, since no device is "
        "connected\n"
    )
    base = tmp_path / "small/results"
    (date,) = (path.name for path in base.iterdir() if not path.is_symlink())
    assert time.strptime(date, "%Y-%m-%d_%H:%M:%S")
    assert os.readlink(base / "latest_results") == date
    assert out.splitlines()[-1] == f"Results are in small/results/{date}/benchmark_stats_Small.csv"
    flavours = ["GPU", "GPU_ub_float", "CPU", "CPU_ub_float", "DSP", "DSP_ub_float", "DSP_ub_tf8"]
    of_run = ("SNPEDiag_0.log", "snpe-bench_cmds.sh")
    written = {p.relative_to(base / date).as_posix() for p in base.rglob("*") if p.is_file()}
    assert written == {
        *("benchmark.json", "benchmark_stats_Small.csv", "benchmark_stats_Small.json"),
        *(f"timing/{f}/Run{n}/{name}" for f in flavours for n in (1, 2) for name in of_run),
        *(f"timing/{f}/answers.json" for f in flavours),
        *(f"mem/{f}/Run{n}/MemLog.txt" for f in flavours for n in (1, 2)),
    }
    rows = table(tmp_path)
    assert rows[:6] == [
        ["SNPE SDK version:", "1.23"],
        [],
        ["Configuration used:"],
        ["Name", "Small"],
        ["HostRootPath", "small"],
        ["HostResultsDir", "small/results"],
    ]
    assert ["Runtimes", ",".join(flavours)] in rows
    assert ["Model:InputDimensions", "in:1,8,8,8"] in rows
    assert ["ProfilingLevel", "basic"] in rows
    assert ["PerfProfile", "high_performance"] in rows
    assert ["Date", date] in rows
    assert ["ro.product.name", "sd835"] in rows
    first = rows.index(["OS_Type", " "]) + 2
    titles = [f"{f}_{m}(2 runs)" for m in ("timing", "mem") for f in flavours]
    assert rows[first] == ["", "", " ", *(c for title in titles for c in (title, "", "", ""))]
    units = ["avg (us)", "max (us)", "min (us)", "runtime"] * 7
    units += ["avg (kB)", "max (kB)", "min (kB)", "runtime"] * 7
    assert rows[first + 1] == ["", "", " ", *units]
    names = [row[2] for row in rows[first + 2 :] if row]
    assert names == [*BASIC, "pss", "prv_dirty", "prv_clean", "Answers as in float"]
    document = json.loads((results(tmp_path) / "benchmark_stats_Small.json").read_text())
    assert (document["SNPE SDK version:"], document["Runs"], document["Units"]) == (
        "1.23",
        "2",
        "us",
    )
    assert list(document["Execution_Data"]) == [*flavours, *(f"{f}_mem" for f in flavours)]
    for title, cells in figures(tmp_path).items():
        for name in BASIC:
            if "_timing" in title:
                said = document["Execution_Data"][title.split("_timing")[0]][name]
                shown = [str(said[k]) for k in ("Avg_Time", "Max_Time", "Min_Time", "Runtime")]
                assert cells[name] == shown
            else:
                assert cells[name] == [" "] * 4


def test_memory_is_the_peak_of_an_inference(tool: Tool, command: Tool, tmp_path: Path) -> None:
    config(tmp_path, Measurements=["mem"], Runtimes=["DSP"], BufferTypes=["float", "ub_tf8"])
    assert tool(f"{RUN} -json").code == 0
    document = json.loads((results(tmp_path) / "benchmark_stats_Small.json").read_text())
    for title, buffer in (("DSP", "float"), ("DSP_ub_tf8", "tf8")):
        line = (
            f"bench --chip sd835 q.dlc --runtime dsp --timing-only --buffer {buffer} --json b.json"
        )
        assert command(line).code == 0
        (case,) = json.loads((tmp_path / "b.json").read_text())["results"]
        peak = str(math.ceil(case["memory"]["peak_bytes"] / 1024))
        cells = figures(tmp_path)[f"{title}_mem(2 runs)"]
        assert cells["pss"] == cells["prv_dirty"] == [peak, peak, peak, " "]
        assert cells["prv_clean"] == [" "] * 4
        assert {str(kb) for kb in document["Execution_Data"][f"{title}_mem"]["pss"].values()} == {
            peak
        }


@pytest.mark.parametrize(
    ("level", "rows"),
    [("off", ()), ("basic", BASIC), ("moderate", MODERATE), ("detailed", DETAILED)],
)
def test_levels_decide_which_rows_there_are(
    level: str, rows: tuple[str, ...], tool: Tool, tmp_path: Path
) -> None:
    config(tmp_path, ProfilingLevel="basic", Runtimes=["CPU", "DSP"], BufferTypes=["float"])
    assert tool(f"{RUN} -l {level}").code == 0
    names = [row[2] for row in table(tmp_path) if row[:2] == ["", ""]]
    assert tuple(names[2 : 2 + len(rows)]) == rows
    others = names[2 + len(rows) : -1]
    assert [name.startswith("layer_") for name in others] == [True] * 4 * (level == "detailed")
    cells = figures(tmp_path)
    cpu, dsp = cells["CPU_timing(2 runs)"], cells["DSP_timing(2 runs)"]
    if level != "off":
        assert (cpu["Init"][3], dsp["Init"][3]) == ("CPU", "CPU")
        assert (cpu["Total Inference Time"][3], dsp["Total Inference Time"][3]) == (
            *("CPU", "CPU|DSP"),
        )
    if level == "moderate":
        assert cpu["RPC Execute"] == ["0", "0", "0", "CPU"]
        assert dsp["Accelerator Init Time"] == [" "] * 4
        nest = ("Total Inference Time", "Forward Propagate", "RPC Execute", "Snpe Accelerator")
        times = [int(dsp[name][0]) for name in (*nest, "Accelerator")]
        assert times == sorted(times, reverse=True)
        assert times[1] > times[3] > times[4] > 0


@pytest.mark.parametrize("flavour", ["GPU", "CPU_ub_float", "DSP", "DSP_ub_tf8"])
def test_a_run_is_that_of_snpe_net_run(
    flavour: str, tool: Tool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config(tmp_path, Runs=1, PerfProfile="burst", ProfilingLevel="detailed", UBFloatOutput=True)
    assert tool(RUN).code == 0
    place = results(tmp_path) / "timing" / flavour / "Run1"
    first, folder, line = (place / "snpe-bench_cmds.sh").read_text().splitlines()
    assert (first, folder) == ("#!/bin/sh", f"cd {tmp_path}")
    chip, stack, *words = shlex.split(line)
    assert (chip, stack) == ("HEXSIM_CHIP=sd835", "HEXSIM_STACK=snpe-1.23")
    assert tool(shlex.join(words)).code == 0
    own, theirs = (place / name / "SNPEDiag_0.log" for name in ("", "output"))
    assert own.read_bytes() == theirs.read_bytes()
    cells = figures(tmp_path)[f"{flavour}_timing(1 runs)"]
    _, rows = read_diag_log(own)
    for row in rows:
        if row.name in ("Init", "De-Init", "Total Inference Time"):
            assert cells[row.name][:3] == [str(row.us)] * 3
        if row.block == "layer" and row.id:
            assert cells[f"layer_{row.id:03d} (Name:{row.name} Type:{row.type})"] == [
                *[str(row.us)] * 3,
                row.runtime,
            ]
    assert tool("snpe-diagview --input_log " + str(own)).code == 0


def test_on_aip_conversions_are_rows(tool: Tool, tmp_path: Path) -> None:
    line = "snpe-dlc-quantize --input_dlc m.dlc --input_list list.txt --output_dlc a.dlc"
    assert tool(f"{line} --enable_hta --chip sd855").code == 0
    model = {"Name": "A", "Dlc": "a.dlc", "RandomInput": 3}
    config(tmp_path, Devices=["SM8150"], Model=model, Runtimes=["aip"], BufferTypes="")
    assert tool(f"{RUN} -l detailed").code == 0
    cells = figures(tmp_path)["AIP_timing(2 runs)"]
    converted = {name: c for name, c in cells.items() if name.startswith("Convert Time:")}
    assert "Convert Time:0 (Name:in)" in converted
    assert all(int(c[0]) > 0 and c[3] == "AIP" for c in converted.values())
    assert "Answers as in float" not in cells, "made-up inputs have no answer"
    line = f"snpe-diagview --input_log {results(tmp_path)}/timing/AIP/Run1/SNPEDiag_0.log"
    assert f"Convert Times:\n{'-' * 15}\n0: in: " in tool(line).out


def test_right_and_wrong_beside_float(tool: Tool, tmp_path: Path) -> None:
    """Of a network whose channels saturate in codes; of its weights the float file alone knows."""
    engines = {
        "": FloatEngine(dlc.read(tmp_path / "q.dlc").model.network),
        "--float m.dlc": FloatEngine(culprits.network("outlier")),
    }
    in_codes = deployed(culprits.quantized("outlier"), "dsp").executor()
    feeds = culprits.inputs(40, seed=5)
    (tmp_path / "many.txt").write_text("".join(f"in{index}.raw\n" for index in range(40)))
    same = dict.fromkeys(engines, 0)
    for index, feed in enumerate(feeds):
        feed["in"].tofile(tmp_path / f"in{index}.raw")
        (coded,) = in_codes.run(feed).values()
        for flag, engine in engines.items():
            (expected,) = engine.run(feed).values()
            same[flag] += int(expected.argmax()) == int(coded.argmax())
    assert 0 < same["--float m.dlc"] < 40
    of_q = {"Name": "Q", "Dlc": "q.dlc", "InputList": "many.txt", "Data": ["."]}
    config(tmp_path, Model=of_q, Runtimes=["CPU", "DSP"], BufferTypes=["float"])
    row = "Answers as in float"
    for flag, count in same.items():
        assert tool(f"{RUN} -json {flag}").code == 0
        cells = figures(tmp_path)
        verdict = "right" if count == 40 else "wrong"
        assert cells["DSP_timing(2 runs)"][row] == [verdict, f"{count} of 40", "", ""]
        if not flag:
            assert cells["CPU_timing(2 runs)"][row] == ["right", "40 of 40", "", ""]
        document = json.loads((results(tmp_path) / "benchmark_stats_Small.json").read_text())
        answers = document["Execution_Data"]["DSP"][row]
        assert answers == {"Verdict": verdict, "Same": count, "Inputs": 40}


def test_right_answers_of_labels(tool: Tool, tmp_path: Path) -> None:
    """Classes that float finds are right by definition; the codes find some of them."""
    engine = FloatEngine(culprits.network("outlier"))
    in_codes = deployed(culprits.quantized("outlier"), "dsp").executor()
    expected, coded = [], []
    for index, feed in enumerate(culprits.inputs(40, seed=5)):
        feed["in"].tofile(tmp_path / f"in{index}.raw")
        for run, answers in ((engine.run, expected), (in_codes.run, coded)):
            (values,) = run(feed).values()
            answers.append(int(values.argmax()))
    (tmp_path / "many.txt").write_text("".join(f"in{index}.raw\n" for index in range(40)))
    (tmp_path / "labels.txt").write_text("\n".join(map(str, expected)))
    of_q = {"Name": "Q", "Dlc": "q.dlc", "InputList": "many.txt", "Data": ["."]}
    config(tmp_path, Model=of_q, Runtimes=["DSP"], BufferTypes=["float"])
    assert tool(f"{RUN} -json --float m.dlc --labels labels.txt").code == 0
    count = sum(map(int.__eq__, expected, coded))
    assert 0 < count < 40
    cells = figures(tmp_path)["DSP_timing(2 runs)"]["Right answers"]
    assert cells == ["wrong", f"{count} of 40", "40 of 40", "in float"]
    document = json.loads((results(tmp_path) / "benchmark_stats_Small.json").read_text())
    assert document["Execution_Data"]["DSP"]["Right answers"] == {
        "Right": count,
        "In float": 40,
        "Inputs": 40,
    }
    config(tmp_path, Model={"Name": "Q", "Dlc": "q.dlc", "RandomInput": 3}, Runtimes=["DSP"])
    code, _, err = tool(f"{RUN} --labels labels.txt")
    assert (code, "RandomInput has none" in err) == (2, True)


def test_files_are_found_in_data(tool: Tool, tmp_path: Path) -> None:
    """As on a device, where the last part of each path of Data is copied to."""
    (tmp_path / "there/cropped").mkdir(parents=True)
    for index in range(3):
        (tmp_path / f"{index}.raw").rename(tmp_path / f"there/cropped/{index}.raw")
    (tmp_path / "list.txt").write_text("cropped/0.raw\nin:=cropped/2.raw\n")
    model = {"Name": "Q", "Dlc": "q.dlc", "InputList": "list.txt", "Data": ["there/cropped"]}
    config(tmp_path, Model=model, Runtimes=["CPU"])
    code, _, err = tool(RUN)
    assert code == 0, err
    text = (results(tmp_path) / "input_list.txt").read_text()
    assert text == "there/cropped/0.raw\nin:=there/cropped/2.raw\n"
    cells = figures(tmp_path)["CPU_timing(2 runs)"]
    assert cells["Answers as in float"][:2] == ["right", "2 of 2"]


def test_runs_differ_only_with_draws(tool: Tool, tmp_path: Path) -> None:
    config(tmp_path, Runs=4, Runtimes=["DSP"])
    assert tool(f"{RUN} -s 20").code == 0
    alike = figures(tmp_path)["DSP_timing(4 runs, 20s sleep)"]["Total Inference Time"]
    assert len(set(alike[:3])) == 1
    assert tool(f"{RUN} --draws").code == 0
    mean, most, least, _ = figures(tmp_path)["DSP_timing(4 runs)"]["Total Inference Time"]
    assert int(least) < int(mean) < int(most)


def test_what_is_finished_stays(tool: Tool, tmp_path: Path) -> None:
    """A folder goes on if it has no CSV yet and everything is the same; else there is a new one."""
    config(tmp_path)
    assert tool(RUN).code == 0
    first = results(tmp_path).resolve()
    csv_file = first / "benchmark_stats_Small.csv"
    whole = csv_file.read_bytes()
    csv_file.unlink()
    lost = first / "timing/DSP/Run2"
    log = (lost / "SNPEDiag_0.log").read_bytes()
    (lost / "SNPEDiag_0.log").unlink()
    other = first / "timing/CPU/Run1/SNPEDiag_0.log"
    other.write_bytes(other.read_bytes().replace(b'"sd835"', b'"sd845"'))
    kept = {path: path.stat().st_mtime_ns for path in first.rglob("*.log") if path != other}
    out = tool(RUN).out
    assert out.splitlines()[0].startswith("Going on in small/results/")
    assert [line.split(":")[0] for line in out.splitlines()[1:-1]] == [
        "CPU, run 1 of 2",
        "DSP, run 2 of 2",
    ], "only what is missing, or is of something else"
    assert {path: path.stat().st_mtime_ns for path in kept} == kept
    assert (lost / "SNPEDiag_0.log").read_bytes() == log
    assert csv_file.read_bytes() == whole
    assert tool(RUN).out.startswith("Running in ")
    assert results(tmp_path).resolve() != first, "it was finished"
    csv_file = results(tmp_path) / "benchmark_stats_Small.csv"
    for line, changes in ((RUN, {"Runs": 3}), (f"{RUN} -p burst", {"Runs": 3})):
        csv_file.unlink()
        config(tmp_path, **changes)
        assert tool(line).out.startswith("Running in "), "it is another benchmark"
    csv_file.unlink()
    dlc.write(tmp_path / "q.dlc", culprits.quantized("none"))
    assert tool(f"{RUN} -p burst").out.startswith("Running in "), "of another network"


@pytest.mark.slow
def test_a_killed_benchmark_goes_on(tool: Tool, tmp_path: Path) -> None:
    """kill -9 in the midst loses no finished run, and the end is that of a run without it."""
    config(tmp_path, Runs=20, Runtimes=["CPU", "GPU", "DSP"])
    line = (sys.executable, "-m", "hexsim.snpe", *RUN.split())
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    running = subprocess.Popen(line, cwd=tmp_path, env=environment, stdout=subprocess.DEVNULL)
    while running.poll() is None and not list(tmp_path.rglob("CPU/Run3/SNPEDiag_0.log")):
        time.sleep(0.01)
    running.kill()
    assert running.wait() == -9, "it was still at work"
    folder = results(tmp_path).resolve()
    assert not list(folder.glob("*.csv"))
    kept = {path: path.stat().st_mtime_ns for path in folder.rglob("*.log")}
    assert 3 <= len(kept) < 20 * 7
    out = tool(RUN).out
    assert out.startswith(f"Going on in small/results/{folder.name}\n")
    assert out.count(", run ") == 20 * 7 - len(kept)
    assert {path: path.stat().st_mtime_ns for path in kept} == kept
    assert not list(folder.rglob(".hexsim-*"))
    resumed = table(tmp_path)
    assert tool(RUN).out.startswith("Running in ")
    fresh = table(tmp_path)
    assert [a for a, b in zip(resumed, fresh, strict=True) if a != b] == [["Date", folder.name]]


@pytest.mark.parametrize("device", ["sd845", "845", "sdm845", "SDM845"])
def test_devices_pick_the_chip(device: str, tool: Tool, tmp_path: Path) -> None:
    config(tmp_path, Devices=["454d40f3"], Runtimes=["CPU"], HostName=None)
    for line in (f"{RUN} -v {device}", f"{RUN} --chip sd845", f"{RUN} -a --chip sd845"):
        code, _, err = tool(line)
        assert code == 0, err
        assert ["ro.product.name", "sd845"] in table(tmp_path)
        assert ("device '454d40f3' is simulated as sd845" in err) == ("--chip" in line)


def test_what_is_about_a_device_is_said_once(tool: Tool, tmp_path: Path) -> None:
    config(tmp_path, Runtimes=["CPU"], PlatformOptions=["unsignedPD:ON"])
    err = tool(f"{RUN} -r host -t le64 -d -cache -o base").err
    lines = err.splitlines()
    assert len(lines) == 5
    assert all(name in err for name in ("--host_name", "--device_os_type_override", "--debug"))
    assert f"{', '.join(_ONLY_DEVICE)} in the config" in err
    assert (tmp_path / "base/small/results/latest_results").is_dir()


@pytest.mark.parametrize(
    ("changes", "flags", "sentence"),
    [
        ({"Rubs": 1}, "", "Found invalid top level key: Rubs"),
        ({"HostResultDir": "x"}, "", "Found invalid top level key: HostResultDir"),
        ({"Runs": None}, "", "Missing value for Runs"),
        ({"Devices": []}, "", "Missing value for Devices"),
        ({"Devices": ["a", "b"]}, "", "Devices has 2 entries; give exactly one"),
        (
            {"Devices": ["454d40f3"]},
            "",
            "Devices: unknown chip '454d40f3'",
        ),
        ({"Devices": ["778G"]}, "", "chip sd778g cannot be simulated"),
        ({"Measurements": ["time"]}, "", '"time" is unknown measurement'),
        ({"Runtimes": ["AIP"]}, "", "chip sd835 has no aip runtime"),
        ({"Runtimes": ["NPU"]}, "", "unknown runtime 'NPU'"),
        ({"Runtimes": ["CPU"], "BufferTypes": ["ub_tf8"]}, "", "none of CPU may have buffers"),
        ({"BufferTypes": ["ub_tf9"]}, "", "unknown buffer type 'ub_tf9'"),
        ({"PerfProfile": "fast"}, "", "unknown PerfProfile 'fast'"),
        ({"ProfilingLevel": "all"}, "", "unknown ProfilingLevel 'all'"),
        ({}, "-o /", "-o '/' is absolute"),
        ({}, "-a -v sd835", "-v and -a exclude each other"),
        ({}, "-s 1.5", "-s takes a whole number"),
        ({}, "-l linting", "unknown value of -l 'linting'"),
        ({"Model": {"Name": "x", "Dlc": "q.dlc"}}, "", "Missing value for Model:InputList"),
        ({"Model": {"Name": "x", "Dlc": "n.dlc", "RandomInput": 1}}, "", "'n.dlc'"),
    ],
)
def test_refusals_leave_nothing(
    changes: dict[str, Any], flags: str, sentence: str, tool: Tool, tmp_path: Path
) -> None:
    config(tmp_path, **changes)
    code, out, err = tool(f"{RUN} {flags}")
    assert (code, out) == (2, "")
    last = err.splitlines()[-1]
    assert sentence in last
    assert last.startswith("snpe_bench.py: ")
    assert not (tmp_path / "small").exists()


def test_a_missing_input_is_reported_before_anything_runs(tool: Tool, tmp_path: Path) -> None:
    config(tmp_path)
    (tmp_path / "1.raw").unlink()
    code, _, err = tool(RUN)
    assert code == 2
    assert "input list 'list.txt', line 3: cannot read '1.raw'" in err
    assert not (tmp_path / "small").exists()


def test_latest_results_that_is_no_link_is_not_replaced(tool: Tool, tmp_path: Path) -> None:
    config(tmp_path)
    results(tmp_path).mkdir(parents=True)
    code, _, err = tool(RUN)
    assert code == 2
    assert "is no link; remove it" in err
