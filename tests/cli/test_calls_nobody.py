"""No command opens a connection, listens, or leaves anything outside its outputs and its cache."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import helper

from tests.conftest import make_model
from tests.imports import CHECKOUT, imports

COMMANDS = """\
models list
models export dronet_112 -o dronet.onnx
chips show sd865
stacks show snpe-1.23
info m.onnx
view m.onnx -o page.html
overview m.onnx --chip sd835 --no-uncertainty --html report.html
info m.onnx --imports
convert m.onnx -o float.dlc
quantize m.onnx --input-list list.txt -o m.dlc
diff float.dlc m.dlc
run --chip sd835 m.onnx --runtime cpu --input-list list.txt -o out_cpu
run --chip sd835 m.onnx --runtime gpu_fp16 --input-list list.txt -o out_gpu
run --chip sd835 m.dlc --runtime dsp --input-list list.txt -o out_dsp
validate --chip sd835 m.dlc --runtime dsp --input-list list.txt --json validation.json
decide m.onnx --files --chips sd835 --json files.json
decide m.onnx --chips sd865 --runtime cpu,dsp --modes float,default --json decide.json
bench --chip sd835 --model m.onnx --json bench.json --csv bench.csv --trace bench.trace
profile --chip sd835 m.dlc --runtime dsp
partition m.dlc --chip sd865
profile m.dlc --chip sd865 --picture roofline.png
throughput m.dlc --chip sd865 --duration-ms 5
kernel conv --chip sd855 --shape 8x8x32:32:3x3
sweep space.toml --workers 2
validate --chip sd835 m.dlc --runtime dsp --input-list list.txt --workers 2 --json shared.json
bench m.onnx --chip sd835 --runtime dsp --timing-only --uncertainty joint --draws 4 --workers 2
"""
WRITTEN = {
    "dronet.onnx", "float.dlc", "m.dlc", "out_cpu", "out_gpu", "out_dsp", "validation.json",
    "files.json", "decide.json", "bench.json", "bench.csv", "bench.trace", "roofline.png",
    "page.html", "report.html", "space.parquet", "shared.json",
}  # fmt: skip
GIVEN = {"m.onnx", "space.toml", "list.txt", "x.raw", "home", "temporary"}


def _sandboxed(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """The commands in a fresh home, without the variables by which libraries know a CI."""
    home, temporary = folder / "home", folder / "temporary"
    home.mkdir()
    temporary.mkdir()
    environment = {"PATH": os.environ["PATH"], "HOME": str(home), "TMPDIR": str(temporary)}
    return subprocess.run(
        [sys.executable, str(CHECKOUT / "tests" / "no_network.py"), *arguments],
        input=COMMANDS,
        cwd=folder,
        env=environment | {"PYTHONPATH": str(CHECKOUT), "PYTHONDONTWRITEBYTECODE": "1"},
        text=True,
        capture_output=True,
    )


@pytest.fixture
def model(tmp_path: Path) -> Path:
    """A folder with a network, an input and a list of it."""
    rng = np.random.default_rng(0)
    nodes = [
        helper.make_node("Conv", ["x", "w"], ["c"], pads=[1, 1, 1, 1]),
        helper.make_node("Relu", ["c"], ["r"]),
        helper.make_node("Softplus", ["r"], ["y"]),
    ]
    weights = {"w": rng.standard_normal((8, 3, 3, 3))}
    onnx.save(make_model(nodes, {"x": [1, 3, 8, 8]}, ["y"], weights), tmp_path / "m.onnx")
    rng.standard_normal((1, 8, 8, 3)).astype(np.float32).tofile(tmp_path / "x.raw")
    (tmp_path / "list.txt").write_text("x.raw\n")
    (tmp_path / "space.toml").write_text('networks = ["m.onnx"]\nchips = ["sd835", "sd855"]\n')
    return tmp_path


@pytest.mark.parametrize("what", ["call", "listen"])
def test_the_sandbox_sees_it(tmp_path: Path, what: str) -> None:
    assert _sandboxed(tmp_path, what).returncode == -signal.SIGSYS


@pytest.mark.slow
def test_no_command_calls_anybody_or_writes_elsewhere(model: Path) -> None:
    done = _sandboxed(model)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout == "".join(f"0 {line}\n" for line in COMMANDS.splitlines()), done.stderr
    assert {path.name for path in model.iterdir()} == GIVEN | WRITTEN
    assert not list((model / "temporary").iterdir())
    kept = {path.relative_to(model / "home").parts[:2] for path in (model / "home").rglob("*")}
    assert kept <= {(".cache",), (".cache", "hexsim")}


@pytest.mark.slow
def test_only_the_drawing_room_imports_matplotlib() -> None:
    files = {name.file for name in imports("hexsim") if name.root == "matplotlib"}
    assert {f"{file.parent.name}/{file.name}" for file in files} <= {"reports/picture.py"}  # types


def test_onnxruntime_is_imported_in_one_place() -> None:
    files = {
        imported.file.relative_to(CHECKOUT)
        for imported in imports("hexsim")
        if imported.root == "onnxruntime"
    }
    assert files == {Path("hexsim/onnx_io/runtime.py")}
