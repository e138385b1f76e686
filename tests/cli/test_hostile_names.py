"""A network whose names are made to mislead: no report, file or error is misled."""

import csv
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import onnx
import pytest
from onnx import helper

from tests.cli.conftest import Done
from tests.conftest import make_model

Command = Callable[[str], Done]

FORGED = "FORGED LINE"
EVIL = f"=cmd\n{FORGED}\x1b[2J\u202e<script>[red]"
SPOKEN = [
    "info m.onnx --imports --csv info.csv --json info.json",
    "convert m.onnx -o float.dlc --dry-run",
    "convert m.onnx -o float.dlc",
    "quantize m.onnx --input-list list.txt -o m.dlc",
    "info m.dlc",
    "view m.dlc -o page.html",
    "overview --chip sd835 m.dlc --no-uncertainty --html report.html",
    "diff m.onnx m.dlc",
    "run --chip sd835 m.dlc --runtime dsp --input-list list.txt -o out",
    "validate --chip sd835 "
    "m.dlc --runtime dsp --input-list list.txt --layers --explain --csv v.csv",
    "decide m.onnx --files --chips sd835 --csv files.csv",
    "decide m.onnx --chips sd865 --runtime dsp --modes default,mixed --csv decide.csv --all",
    "bench --chip sd835 --model m.onnx --csv bench.csv --trace trace.json",
    "profile --chip sd835 m.dlc --runtime dsp --csv profile.csv",
    "partition m.dlc --chip sd865 --graph m.svg",
    "profile m.dlc --chip sd865 --roofline --csv roofline.csv",
    "throughput m.dlc --chip sd865 --duration-ms 5",
]
REFUSED = [
    "run --chip sd835 "
    "m.dlc --runtime dsp --input-list list.txt -o out --set-output-tensors nothing",
    "info m.onnx --input-dim nothing=1,2,3,4",
    "partition m.dlc --chip sd865 --hta-partitions 7-9",
]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A convolution, a layer for the CPU and a last one, every name of them evil."""
    rng = np.random.default_rng(0)
    c, s, x, y = (f"{EVIL}{end}" for end in "csxy")
    nodes = [
        helper.make_node("Conv", [x, f"{EVIL}w"], [c], name=f"{EVIL}conv", pads=[1, 1, 1, 1]),
        helper.make_node("Sin", [c], [s], name=f"{EVIL}sin"),
        helper.make_node("Relu", [s], [y], name=f"{EVIL}relu"),
    ]
    weights = {f"{EVIL}w": rng.standard_normal((8, 3, 3, 3))}
    onnx.save(make_model(nodes, {x: [1, 3, 8, 8]}, [y], weights), tmp_path / "m.onnx")
    rng.standard_normal((1, 8, 8, 3)).astype(np.float32).tofile(tmp_path / "x.raw")
    (tmp_path / "list.txt").write_text("x.raw\n")
    return tmp_path


def _misleading(text: str) -> Iterator[str]:
    for line in text.split("\n"):
        if not line.isprintable() or line.lstrip().startswith(FORGED):
            yield line


@pytest.mark.slow
def test_no_command_is_misled(command: Command, folder: Path) -> None:
    for line in SPOKEN:
        done = command(line)
        assert done.code == 0, line + done.err
        assert not list(_misleading(done.out + done.err)), line
    for line in REFUSED:
        done = command(line)
        assert done.code == 2, line
        assert not list(_misleading(done.err)), line


@pytest.mark.slow
def test_no_file_is_misled(command: Command, folder: Path) -> None:
    for line in SPOKEN:
        assert command(line).code == 0, line
    for file in folder.glob("*.csv"):
        cells = [cell for row in csv.reader(file.read_text().splitlines()) for cell in row]
        assert not [cell for cell in cells if re.match(r"[=@\t\r]|[+-](?![\d.]|inf)", cell)], file
        assert not list(_misleading(file.read_text())), file
    drawing = ElementTree.parse(folder / "m.svg")
    assert not [element for element in drawing.iter() if element.tag.endswith("script")]
    assert any("<script>" in (element.text or "") for element in drawing.iter()), "as text"
    page = (folder / "page.html").read_text()
    assert page.count("<script") == 3, "its data, its charts and its own"
    assert not list(_misleading(page))
    for file in folder.glob("*.json"):
        assert file.read_text().isascii(), file
