"""Every option that names a file says what becomes of it, and no command harms what it reads."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import get_args, get_type_hints

import numpy as np
import onnx
import pytest
from onnx import helper

from hexsim import dlc
from hexsim.cli._files import ReadOption, marks
from hexsim.cli.app import commands
from hexsim.datasheets import background, chips, stacks
from hexsim.dlc.loading import load
from tests.cli.conftest import Done
from tests.conftest import make_model
from tests.faults.conftest import fill

Command = Callable[[str], Done]
Refused = Callable[[str], str]


@pytest.mark.parametrize("command", commands().values(), ids=commands())
def test_every_file_is_marked(command: Callable[..., None]) -> None:
    """A new option for a file cannot be forgotten: a path without a mark is red."""
    hints = get_type_hints(command, include_extras=True)
    marked = marks(command)
    for name, hint in hints.items():
        kind, *_ = get_args(hint) or (hint,)
        assert name in marked or (kind is not Path and Path not in get_args(kind)), name
    for name in ("model", "chip", "stack", "background", "float_model", "first", "second"):
        assert name not in hints or isinstance(marked.get(name), ReadOption), name


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """Inputs of every kind, and second names of some."""
    fill(tmp_path)
    for shelf, name, file in (
        (chips, "sd835", "my.toml"),
        (stacks, "snpe-1.23", "stack.toml"),
        (background, "audio", "load.toml"),
    ):
        shipped = Path(shelf.__file__ or "").parent / f"{name}.toml"
        (tmp_path / file).write_bytes(shipped.read_bytes())
    (tmp_path / "over.json").write_text('{"activation_encodings": {}, "param_encodings": {}}')
    (tmp_path / "labels.txt").write_text("0\n1\n")
    os.link(tmp_path / "my.toml", tmp_path / "hard.toml")
    (tmp_path / "soft.raw").symlink_to("1.raw")
    (tmp_path / "pictures").mkdir()
    (tmp_path / "pictures/a.png").write_bytes(b"no picture")
    weight = np.ones((4, 3, 3, 3), np.float32)
    nodes = [helper.make_node("Conv", ["x", "w"], ["y"])]
    model = make_model(nodes, {"x": (1, 3, 8, 8)}, ["y"], {"w": weight})
    onnx.save(
        *(model, tmp_path / "parted.onnx"),
        save_as_external_data=True,
        location="weights.bin",
        size_threshold=0,
    )
    return tmp_path


@pytest.mark.parametrize(
    "line",
    [
        "profile m.dlc --chip ./my.toml --json my.toml",
        "profile m.dlc --chip my.toml --trace hard.toml",
        "bench --chip sd835 --model m.dlc --stack ./stack.toml --csv stack.toml",
        "bench --chip sd835 --model m.dlc --background load.toml --json ./load.toml",
        "bench --chip sd835 --model m.dlc --json m.dlc",
        "bench --chip sd835 --model parted.onnx --json weights.bin",
        "convert parted.onnx -o weights.bin",
        "convert m.onnx --quantization-overrides over.json -o over.json",
        "throughput --chip sd835 m.dlc parted.onnx --trace weights.bin",
        "info m.dlc --chip my.toml --json my.toml",
        "info m.dlc --json $PWD/m.dlc",
        "kernel conv --shape 8x8x32:32:3x3 --chip my.toml --json my.toml",
        "partition --chip sd855 m.dlc --stack stack.toml --graph stack.toml",
        "profile m.dlc --chip my.toml --json my.toml",
        "quantize m.dlc --input-list list.txt -o 0.raw",
        "quantize m.dlc --input-list list.txt --encodings-report soft.raw",
        "quantize m.dlc --input-list list.txt --enable-hta --chip my.toml -o my.toml",
        "run --chip sd835 q.dlc --input-list list.txt --trace 1.raw",
        "run --chip sd835 q.dlc --input-list list.txt --stack stack.toml --trace stack.toml",
        "run --chip sd835 q.dlc --images pictures --trace pictures/a.png",
        "validate --chip sd835 q.dlc --input-list list.txt --labels labels.txt --json labels.txt",
        "validate --chip sd835 q.dlc --float parted.onnx --csv weights.bin",
        "validate --chip sd835 m.dlc --calibration-list list.txt --csv 0.raw",
        "decide m.dlc --files --calibration-list list.txt --csv list.txt",
        "calibrate rows.csv --chip sd835 -o a.toml --json m.onnx",
        "calibrate rows.csv --chip my.toml -o my.toml",
    ],
)
def test_no_output_is_an_input(refused: Refused, files: Path, line: str) -> None:
    assert "would overwrite an input" in refused(line.replace("$PWD", str(files)))


@pytest.mark.parametrize(
    "line",
    [
        "profile --chip sd835 m.dlc --json new --trace new",
        "profile --chip sd835 m.dlc --json new --csv ./new",
        "run --chip sd835 q.dlc --input-list list.txt --trace new -o new",
        "calibrate rows.csv --chip sd835 --adjust both -o new.toml --chip-output new.toml",
    ],
)
def test_no_output_is_another(refused: Refused, files: Path, line: str) -> None:
    assert "two outputs would be written to" in refused(line)


def test_results_of_a_run_spare_its_inputs(command: Command, files: Path) -> None:
    """The second result would replace the file that the first line names."""
    names = load("q.dlc").network.outputs
    (files / "output/Result_1").mkdir(parents=True)
    victim = files / f"output/Result_1/{names[0]}.raw"
    victim.write_bytes((files / "0.raw").read_bytes())
    (files / "list.txt").write_text(f"{victim}\n1.raw\n")
    done = command("run --chip sd835 q.dlc --input-list list.txt")
    assert done.code == 2
    assert "would overwrite an input" in done.err
    assert victim.read_bytes() == (files / "0.raw").read_bytes()
    assert not (files / "output/Result_0").exists()


def test_a_run_that_fails_at_its_last_input_leaves_nothing(command: Command, files: Path) -> None:
    np.full((1, 8, 8, 3), np.nan, np.float32).tofile(files / "1.raw")
    before = sorted(files.rglob("*"))
    done = command("run --chip sd835 q.dlc --input-list list.txt --trace t.json")
    assert (done.code, "NaN" in done.err) == (2, True)
    assert sorted(files.rglob("*")) == before


def test_a_dlc_does_not_tell_where_it_was_made(command: Command, files: Path) -> None:
    """Names of files are kept, but no folder: equal inputs in two folders give equal bytes."""
    made = []
    for folder in ("one", "an/other"):
        (files / folder).mkdir(parents=True)
        for name in ("m.onnx", "over.json", "m.dlc"):
            (files / folder / name).write_bytes((files / name).read_bytes())
        (files / folder / "list.txt").write_text("0.raw\n")
        here = files / folder
        line = f"convert {here}/m.onnx -o {folder}/c.dlc"
        assert command(line).code == 0
        line = f"quantize {folder}/m.dlc --input-list {here}/list.txt -o {here}/q.dlc"
        assert command(line).code == 0
        made.append([(here / name).read_bytes() for name in ("c.dlc", "q.dlc")])
        assert str(files).encode() not in b"".join(made[-1])
    assert made[0] == made[1]
    metadata = dlc.read(files / "one/q.dlc").metadata
    assert "input_dlc=m.dlc input_list=list.txt" in metadata.quantizer_command
