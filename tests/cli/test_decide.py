"""`hexsim decide` as typed: its reports agree, its commands give its figures, kills lose little."""

from __future__ import annotations

import csv
import json
import os
import re
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest

import hexsim
from hexsim.errors import HexsimError
from hexsim.files import checkpoint
from hexsim.files.private import private_folder
from hexsim.reports.decision import decision_text
from hexsim.texts.figures import figure, percent
from tests.cli.conftest import Done
from tests.imports import CHECKOUT
from tests.studies.decision.decided import ITEMS, write_files

Command = Callable[[str], Done]

FEW = "decide m.onnx --chips sd855 --runtime cpu,dsp,aip --input-list list.txt --draws 3"
JUDGING = ITEMS // 2
LABELLED = f"{FEW} --labels labels.txt --modes float,default,axis"


@pytest.fixture(autouse=True)
def parts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of what is kept, alone for a test; m.onnx with its inputs beside it."""
    folder = tmp_path / "kept"
    folder.mkdir()
    monkeypatch.setattr(checkpoint, "private_folder", lambda name: folder)
    write_files(tmp_path)
    return folder


def test_table_json_and_csv_say_the_same(command: Command, tmp_path: Path) -> None:
    code, out, err = command(f"{LABELLED} --all --json d.json --csv d.csv")
    assert (code, err) == (0, "")
    document = json.loads((tmp_path / "d.json").read_text())
    with (tmp_path / "d.csv").open() as file:
        rows = list(csv.DictReader(file))
    lines = [line for line in out.splitlines() if re.match(r" +\d+  ", line)]
    assert len(lines) == len(rows) == len(document["choices"]) >= 4
    for line, row, choice in zip(lines, rows, document["choices"], strict=True):
        assert row["total_inference_us"] == str(choice["total_inference_us"])
        assert line.split()[:2] == [str(choice["rank"]), choice["mode"]]
        assert f" {figure(choice['total_inference_us'] / 1e3)} " in line
        assert percent(choice["runtime_top1"] / JUDGING) in line
        assert f"{choice['same_top1']}/{JUDGING}" in line
        assert ("*" in line) == choice["in_front"]
    best = document["choices"][0]
    assert f"Take {best['mode']} on {best['chip']} {best['runtime']}" in out
    assert document["rule"] in out
    assert all(f"  {line}" in out for line in document["commands"])


def test_a_full_disk_is_a_remark(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    line = f"{FEW} --modes default"
    whole = command(line)

    def full(path: Path, data: bytes) -> None:
        raise HexsimError(f"cannot write '{path}': No space left on device")

    monkeypatch.setattr(checkpoint, "write_bytes", full)
    monkeypatch.setattr(checkpoint, "program_hash", lambda: "of another program")
    code, out, err = command(line)
    assert (code, out, whole.err) == (whole.code, whole.out, "")
    assert err.startswith("warning: results are not kept for the next run: cannot write '")
    assert err.count("\n") == 1


def test_a_file_in_place_of_the_cache_is_a_remark(
    command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So is a folder without permission to write, and one on a disk that is only read."""
    line = f"{FEW} --modes default"
    whole = command(line)
    (tmp_path / "cache").write_text("no folder")
    monkeypatch.setattr(checkpoint, "private_folder", private_folder)
    monkeypatch.setenv("HEXSIM_CACHE_DIR", str(tmp_path / "cache"))
    code, out, err = command(line)
    assert (code, out, whole.err) == (whole.code, whole.out, "")
    assert err.startswith("warning: results are not kept for the next run: there is no folder of")


@pytest.mark.parametrize(
    "more",
    [
        "--modes default,axis --runtime dsp --labels labels.txt",
        "--modes float --runtime cpu --labels labels.txt",
        "--modes cle+bc --runtime aip --perf-profile high_performance --idle-ms 5",
        "--modes default,mixed --runtime dsp --prefer accuracy --calibration-list list.txt",
        "--modes act16 --runtime fxp_cpu --input-dim 'x 1,3,8,8'",
    ],
)
def test_its_commands_give_its_figures(command: Command, tmp_path: Path, more: str) -> None:
    line = f"decide m.onnx --chips sd855 --input-list list.txt --draws 0 --json d.json {more}"
    assert command(line).code == 0
    document = json.loads((tmp_path / "d.json").read_text())
    best = document["choices"][0]
    _reproduce(document["commands"], tmp_path, best, command)
    assert best["float_tensors"] or "mixed" not in more, "the choice is one that was to be tested"


def test_commands_without_inputs(command: Command, tmp_path: Path) -> None:
    done = command("decide m.onnx --chips sd855 --runtime dsp --modes axis --draws 0 --json d.json")
    assert done.code == 0
    assert "seeded inputs, on which classes mean nothing" in done.out
    document = json.loads((tmp_path / "d.json").read_text())
    assert "--seeded-inputs" in document["commands"][0]
    _reproduce(document["commands"], tmp_path, document["choices"][0], command)


def test_an_anchor_is_reported_and_its_commands_give_it_again(
    command: Command, tmp_path: Path
) -> None:
    options: dict[str, Any] = {
        "chips": "sd8gen2",
        "runtime": "htp",
        "modes": "default",
        "anchor": "m.onnx=0.50",
    }
    words = " ".join(f"--{name} {value}" for name, value in options.items())
    done = command(f"decide m.onnx --chips sd835,sd855,sd865 {words} --json d.json")
    assert done.code == 0
    assert "calibrated with anchor m.onnx=0.50 (itself off by up to 23%)" in done.out
    document = json.loads((tmp_path / "d.json").read_text())
    (best,) = document["choices"]
    assert document["anchor"] == "m.onnx=0.50"
    assert document["anchor_error"]["causes"]["rounding"]["value"] == 0.01
    assert best["total_inference_us"] == pytest.approx(500, rel=1e-3)
    assert best["low_us"] < 500 * 0.85 < 500 * 1.15 < best["high_us"]
    decided = hexsim.decide("m.onnx", **options)
    assert decided.to_json() == (tmp_path / "d.json").read_text()
    assert decision_text(decided) == done.out.rstrip("\n")
    _reproduce(document["commands"], tmp_path, best, command)


def _reproduce(lines: list[str], folder: Path, best: dict[str, Any], command: Command) -> None:
    """Run the commands with the words that a shell makes of them, and compare what they write."""
    for line in lines:
        more = {"profile": " --json p.json", "validate": " --json v.json"}
        typed = line + more.get(line.split()[1], "")
        shell = ["bash", "-c", 'hexsim() { printf "%s\\0" "$@"; }; ' + typed]
        words = subprocess.run(shell, cwd=folder, check=True, capture_output=True, text=True).stdout
        assert bool(words) == typed.startswith("hexsim "), typed
        if words:  # else the shell itself has done it
            done = command(shlex.join(words.split("\0")[:-1]))
            assert done.code == 0, (typed, done.err)
    (case,) = json.loads((folder / "p.json").read_text())["results"]
    assert case["total_inference_us"] == best["total_inference_us"]
    checked = json.loads((folder / "v.json").read_text())
    assert checked["output_sqnr_db"] == best["sqnr_db"], "None is exact in both"
    assert checked["hits"]["same_top1"] == best["same_top1"]
    assert checked["hits"].get("runtime_top1") == best["runtime_top1"]


@pytest.mark.slow
def test_a_killed_run_goes_on_where_it_was(command: Command, tmp_path: Path, parts: Path) -> None:
    words = f"{LABELLED} --all --json killed.json".split()
    child = subprocess.Popen(
        [sys.executable, "-c", _CHILD, str(parts), *words],
        cwd=tmp_path,
        env=_environment(),
        stdout=subprocess.DEVNULL,
    )
    while child.poll() is None and len(list(parts.glob("*.json"))) < 3:
        time.sleep(0.01)
    child.send_signal(signal.SIGKILL)
    child.wait()
    before = {path.name: path.read_bytes() for path in parts.glob("*.json")}
    assert len(before) >= 3
    assert not (tmp_path / "killed.json").exists()
    assert command(f"{LABELLED} --all --json killed.json").code == 0
    after = {path.name: path.read_bytes() for path in parts.glob("*.json")}
    assert before.items() < after.items(), "what was done is not done again"
    for path in parts.iterdir():
        path.unlink()
    assert command(f"{LABELLED} --all --json whole.json").code == 0
    assert {path.name: path.read_bytes() for path in parts.glob("*.json")} == after
    assert (tmp_path / "killed.json").read_bytes() == (tmp_path / "whole.json").read_bytes()


@pytest.mark.slow
def test_who_interrupts_is_told_what_is_kept(tmp_path: Path, parts: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", _INTERRUPTED + _CHILD, str(parts), *LABELLED.split()],
        cwd=tmp_path,
        env=_environment(),
        capture_output=True,
    )
    assert done.returncode == 130
    assert done.stderr.decode() == (
        "hexsim: interrupted; what was computed is kept, and the same command goes on from there\n"
    )
    assert list(parts.glob("*.json"))


_INTERRUPTED = """
import signal
from hexsim.files.checkpoint import Checkpoints
signal.signal(signal.SIGINT, signal.default_int_handler)  # whoever runs the tests may ignore it
part = Checkpoints.part
def part_and_signal(*given):
    found = part(*given)
    signal.raise_signal(signal.SIGINT)
    return found
Checkpoints.part = part_and_signal
"""
_CHILD = """
import sys
from pathlib import Path
from hexsim.files import checkpoint
from hexsim.files.private import private_folder
from hexsim.reports.decision import decision_text
folder = Path(sys.argv.pop(1))
checkpoint.private_folder = lambda name: folder
from hexsim.cli import main
from hexsim.texts.figures import figure, percent
main()
"""


def _environment() -> dict[str, str]:
    path = os.pathsep.join(filter(None, (str(CHECKOUT), os.environ.get("PYTHONPATH"))))
    return {**os.environ, "PYTHONPATH": path}


def test_nothing_within_the_limits_is_an_answer_too(command: Command, tmp_path: Path) -> None:
    code, out, err = command(f"{FEW} --modes default --max-ms 0.01 --json d.json")
    assert (code, err) == (1, ""), "a build stops"
    assert "Nothing is within the limits." in out
    assert "over --max-ms 0.01" in out
    document = json.loads((tmp_path / "d.json").read_text())
    assert (document["choices"], document["commands"]) == ([], [])
    assert document["limits"]["max_ms"] == 0.01


def test_the_table_fits_a_terminal(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    out = command(LABELLED).out
    table = [line for line in out.splitlines() if re.match(r"( *rank| +\d+  )", line)]
    assert len(table) > 3
    assert max(map(len, table)) <= 80
    assert "--wide shows all" in out


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("decide none.onnx", "no such file"),
        ("decide m.onnx --chips sd778g", "cannot be simulated"),
        ("decide m.onnx --chips ,", "no chip is named"),
        ("decide m.onnx --stack none", "unknown stack 'none'"),
        ("decide m.onnx --runtime npu", "unknown runtime 'npu'"),
        ("decide m.onnx --modes int4", "unknown quantiser mode 'int4'"),
        ("decide m.onnx --chips sd8gen2 --anchor m.onnx", "--anchor takes NETWORK=MS"),
        (
            "decide m.onnx --chips sd835,sd855 --anchor m.onnx=0.1",
            "give the chip of that phone alone",
        ),
        ("decide m.onnx --prefer beauty", "unknown --prefer 'beauty'"),
        ("decide m.onnx --perf-profile fast", "unknown performance profile 'fast'"),
        ("decide m.onnx --max-loss 1", "give --images or --input-list"),
        ("decide m.onnx --labels labels.txt", "give both"),
        ("decide m.onnx --input-list list.txt --csv list.txt", "would overwrite an input"),
    ],
)
def test_mistakes(refused: Callable[[str], str], line: str, sentence: str) -> None:
    assert sentence in refused(line)


def test_a_chip_s_file_is_not_overwritten(refused: Callable[[str], str], tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text("")
    assert "would overwrite an input" in refused(
        "decide m.onnx --chips sd855,mine.toml --csv mine.toml"
    )


def test_a_part_of_vtcm(
    command: Command, tmp_path: Path, onnx_model: Callable[..., onnx.ModelProto]
) -> None:
    """Times kept for one size are not those of another; the command that follows states it."""
    weights = np.full((512, 512, 1, 1), 0.01, np.float32)
    nodes = [onnx.helper.make_node("Conv", [x, "w"], [y]) for x, y in (("x", "t"), ("t", "y"))]
    onnx.save(onnx_model(nodes, {"x": (1, 512, 8, 8)}, ["y"], {"w": weights}), "big.onnx")
    line = "decide big.onnx --chips sd8gen2 --runtime htp_fp16 --modes float --draws 0"
    for size in (None, 0.25):
        option = f"--vtcm {size}" if size else ""
        done = command(f"{line} {option} --json d.json")
        assert (done.code, " --vtcm 0.25" in done.out) == (0, bool(size)), done.err
        document = json.loads((tmp_path / "d.json").read_text())
        (choice,) = document["choices"]
        assert document["vtcm_mb"] == size
        assert ("a graph may use 0.25 MB of VTCM" in done.out) == bool(size)
        timing = hexsim.simulate("big.onnx", "sd8gen2", "htp_fp16", vtcm_mb=size)
        assert choice["total_inference_us"] == timing.total_us
    assert timing.total_us > hexsim.simulate("big.onnx", "sd8gen2", "htp_fp16").total_us
    refused = command(f"{line.replace('sd8gen2', 'sd8gen2,sd855')} --vtcm 1")
    assert (refused.code, "sd855 has no tensor processor; --vtcm" in refused.err) == (2, True)
