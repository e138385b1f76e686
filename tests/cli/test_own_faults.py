"""A fault of hexsim itself: exit code 70, one sentence, and a private file with the traceback."""

import stat
import sys
import tempfile
from pathlib import Path

import onnx
import pytest
from onnx import TensorProto, helper

from hexsim.cli import main
from hexsim.cli._own_faults import EXIT_CODE
from hexsim.onnx_io.read import operators, reader
from hexsim.snpe import main as snpe_main


def _translator_with_a_bug(node: object, net: object) -> None:
    raise KeyError("no such thing")


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The system's temporary folder, empty; a sound file m.onnx is in the folder of the command."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    monkeypatch.chdir(tmp_path)
    x, y = (helper.make_tensor_value_info(name, TensorProto.FLOAT, [2, 3]) for name in "xy")
    graph = helper.make_graph([helper.make_node("Relu", ["x"], ["y"])], "g", [x], [y])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)]), "m.onnx")
    monkeypatch.setitem(operators.TRANSLATORS, "Relu", _translator_with_a_bug)
    return folder


CALLS = (
    ("hexsim", ["info", "m.onnx"]),
    ("snpe-onnx-to-dlc", ["-i", "m.onnx", "-o", "m.dlc"]),
)


@pytest.mark.parametrize(("name", "words"), CALLS)
def test_a_bug_is_reported_as_one(
    name: str,
    words: list[str],
    temporary: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for _ in range(2):  # a second file does not take the place of the first
        monkeypatch.setattr(sys, "argv", [name, *words])
        with pytest.raises(SystemExit) as ended:
            (main if name == "hexsim" else snpe_main)()
        assert ended.value.code == EXIT_CODE == 70
        assert isinstance(ended.value.__cause__, KeyError)
    said = capsys.readouterr()
    assert said.out == ""
    files = sorted(temporary.iterdir())
    lines = said.err.splitlines()
    assert len(files) == len(lines) == 2
    for line in lines:
        assert line.startswith(f"{name}: a fault of hexsim, not of what it was given (KeyError); ")
        assert any(f"'{file}'" in line for file in files)
    for file in files:
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
        assert "Traceback" in file.read_text()
        assert "_translator_with_a_bug" in file.read_text()
    assert not Path("m.dlc").exists()


def test_without_a_place_for_the_file_the_traceback_follows(
    temporary: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(temporary / "nowhere"))
    monkeypatch.setattr(sys, "argv", ["hexsim", "info", "m.onnx"])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == EXIT_CODE
    first, *others = capsys.readouterr().err.splitlines()
    assert "with the traceback below" in first
    assert "KeyError: 'no such thing'" in others


def test_in_python_it_is_what_it_is(temporary: Path) -> None:
    with pytest.raises(KeyError, match="no such thing"):
        reader.read(Path("m.onnx"))
    assert not [*temporary.iterdir()]
