"""A .dlc file whose names are made to mislead: they are written out like those of an ONNX file."""

import csv
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import onnx
import pytest
from onnx import helper

import hexsim
from tests.cli.conftest import Done
from tests.conftest import make_model
from tests.fuzz.containers import opened, sealed

Command = Callable[[str], Done]

EVIL = "=cmd\nFORGED LINE\x1b[2J\u202e<script>\ud800"
SHOWN = r"=cmd\nFORGED LINE\x1b[2J\u202e<script>\ud800"
MARK = "MARK"
"""Stands for it in the file while that is made."""
SPOKEN = [
    "info m.dlc --csv info.csv --json info.json",
    "view m.dlc -o page.html",
    "overview --chip sd835 m.dlc --no-uncertainty --html report.html",
    "diff float.dlc m.dlc",
    "quantize float.dlc --input-list list.txt -o again.dlc",
    "run --chip sd835 m.dlc --runtime dsp --input-list list.txt -o out",
    "bench --chip sd835 --model m.dlc --json bench.json --csv bench.csv --trace trace.json",
    "profile --chip sd835 m.dlc --runtime dsp --csv profile.csv --json profile.json",
    "partition m.dlc --chip sd865 --graph m.svg",
    "quantize float.dlc --input-list list.txt -o own.dlc --override-params",
]


def _forge(path: Path) -> None:
    """Put the evil name where its mark is."""
    parts = opened(path)
    text = json.dumps(parts.model)
    assert MARK in text
    parts.model = text.replace(MARK, json.dumps(EVIL)[1:-1]).encode()
    parts.metadata = parts.metadata.replace(b"converter-command=", b"converter-command=\x1b[2J")
    sealed(parts, path)


@pytest.fixture
def folder(tmp_path: Path, command: Command) -> Path:
    """A convolution, a layer for the CPU and a last one, in floats and in codes."""
    rng = np.random.default_rng(0)
    x, c, s, y = (f"{MARK}{end}" for end in "xcsy")
    nodes = [
        helper.make_node("Conv", [x, f"{MARK}w"], [c], name=f"{MARK}conv", pads=[1, 1, 1, 1]),
        helper.make_node("Sin", [c], [s], name=f"{MARK}sin"),
        helper.make_node("Relu", [s], [y], name=f"{MARK}relu"),
    ]
    weights = {f"{MARK}w": rng.standard_normal((8, 3, 3, 3))}
    model = make_model(nodes, {x: [1, 3, 8, 8]}, [y], weights)
    model.graph.name = MARK
    onnx.save(model, tmp_path / "m.onnx")
    rng.standard_normal((1, 8, 8, 3)).astype(np.float32).tofile(tmp_path / "x.raw")
    (tmp_path / "list.txt").write_text("x.raw\n")
    encoding = [{"bitwidth": 8, "min": -1, "max": 1, "is_symmetric": "False"}]
    overrides = {"activation_encodings": {c: encoding}, "param_encodings": {}}
    (tmp_path / "o.json").write_text(json.dumps(overrides))
    assert command("convert m.onnx -o float.dlc --quantization-overrides o.json").code == 0
    assert command("quantize float.dlc --input-list list.txt -o m.dlc").code == 0
    _forge(tmp_path / "float.dlc")
    _forge(tmp_path / "m.dlc")
    return tmp_path


def _misleading(text: str) -> Iterator[str]:
    for line in text.split("\n"):
        if not line.isprintable() or line.lstrip().startswith("FORGED"):
            yield line


def test_names_of_a_dlc_are_those_that_are_shown(folder: Path) -> None:
    for file in ("float.dlc", "m.dlc"):
        network = hexsim.load(folder / file).network
        assert network.inputs == (f"{SHOWN}x",)
        assert [layer.name for layer in network.layers][:2] == [f"{SHOWN}conv", f"{SHOWN}sin"]
    values = hexsim.simulate(
        hexsim.load(folder / "m.dlc"),
        inputs={f"{SHOWN}x": np.ones((1, 3, 8, 8))},
        chip="sd835",
    )
    assert values.outputs is not None
    assert [*values.outputs] == [f"{SHOWN}y"]


@pytest.mark.slow
def test_no_command_and_no_file_is_misled(command: Command, folder: Path) -> None:
    for line in SPOKEN:
        done = command(line)
        assert done.code == 0, line + done.err
        assert not list(_misleading(done.out + done.err)), line
    for path in folder.rglob("*"):
        assert str(path).isprintable()
        if path.suffix == ".csv":
            assert [*csv.reader(path.read_text().splitlines())]
        if path.suffix in (".csv", ".html", ".json", ".svg", ".txt"):
            assert not list(_misleading(path.read_text("utf-8").replace("\t", " "))), path
    drawing = ElementTree.parse(folder / "m.svg")
    assert not [element for element in drawing.iter() if element.tag.endswith("script")]


def test_overrides_name_tensors_as_they_are_in_the_file_or_as_they_are_shown(
    command: Command, folder: Path
) -> None:
    onnx_model = onnx.load(folder / "m.onnx")
    data = onnx_model.SerializeToString()
    (folder / "e.onnx").write_bytes(data.replace(b"MARK", b"M\x1b[J"))
    encoding = [{"bitwidth": 8, "min": -1, "max": 1, "is_symmetric": "False"}]
    for name in ("M\x1b[Jc", r"M\x1b[Jc"):
        overrides = {"activation_encodings": {name: encoding}, "param_encodings": {}}
        (folder / "o.json").write_text(json.dumps(overrides))
        done = command("convert e.onnx -o f.dlc --quantization-overrides o.json")
        assert done.code == 0, done.err
        (folder / "named.txt").write_text("M\x1b[Jx:=x.raw\n")
        done = command("quantize f.dlc --input-list named.txt -o e.dlc --override-params")
        assert done.code == 0, done.err
        assert hexsim.load(folder / "e.dlc").activations[r"M\x1b[Jc"].delta < 2.1 / 255
