"""Runs SNPE tools as typed, in this process and in a folder of their own."""

import os
import shlex
import sys
from collections.abc import Callable
from pathlib import Path

import onnx
import pytest

from hexsim import dlc
from hexsim.quantization.model import Model
from hexsim.snpe import main
from tests.accuracy import culprits
from tests.cli.conftest import Done, command, refused

__all__ = ["command", "refused"]

_RUNS = ("snpe-net-run", "snpe-parallel-run", "snpe-throughput-net-run")


@pytest.fixture
def tool(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> Callable[[str], Done]:
    """A function that runs one line, which begins with a tool's name, in `tmp_path`.

    Lines that run a network are for the phone of SNPE 1.23 where they name none.
    """
    monkeypatch.chdir(tmp_path)
    for variable in ("HEXSIM_CHIP", "HEXSIM_STACK"):
        monkeypatch.delenv(variable, raising=False)

    def run(line: str) -> Done:
        monkeypatch.setattr(sys, "argv", shlex.split(line))
        with monkeypatch.context() as phone:
            if line.startswith(_RUNS) and "HEXSIM_CHIP" not in os.environ:
                phone.setenv("HEXSIM_CHIP", "sd835")
            with pytest.raises(SystemExit) as ended:
                main()
        captured = capsys.readouterr()
        return Done(int(ended.value.code or 0), captured.out, captured.err)

    return run


@pytest.fixture
def files(tmp_path: Path, onnx_model: Callable[..., onnx.ModelProto]) -> Path:
    """A folder with m.onnx, m.dlc, q.dlc, three raw inputs of the latter two, and list.txt."""
    node = onnx.helper.make_node("Relu", ["x"], ["y"], "relu")
    onnx.save(onnx_model([node], {"x": (1, 3, 4, 4)}, ["y"], {}), tmp_path / "m.onnx")
    dlc.write(tmp_path / "m.dlc", Model(culprits.network("outlier")))
    dlc.write(tmp_path / "q.dlc", culprits.quantized("outlier"))
    for index, feed in enumerate(culprits.inputs(3)):
        feed["in"].tofile(tmp_path / f"{index}.raw")
    (tmp_path / "list.txt").write_text("0.raw\n\n1.raw\n2.raw\n")
    return tmp_path
