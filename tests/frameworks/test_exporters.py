"""Exporters are other programs: missing, failing, slow, or silent, they end in a sentence."""

from collections.abc import Callable
from pathlib import Path

import onnx
import pytest
from onnx import helper

from hexsim.dlc.loading import load
from hexsim.errors import HexsimError
from hexsim.frameworks.exporters import Exporter

FILE = Path("m.tflite")


@pytest.fixture
def exporter(tmp_path: Path) -> Callable[..., Exporter]:
    """What makes an exporter of the words of a program, whose arguments are from 1 on."""

    def made(program: str, *modules: str) -> Exporter:
        (tmp_path / "program.py").write_text(program)
        return Exporter("the exporter", "tflite", modules, (str(tmp_path / "program.py"),))

    return made


def test_what_it_writes_is_read(exporter: Callable[..., Exporter], tmp_path: Path) -> None:
    model = helper.make_model(helper.make_graph([], "g", [], []))
    onnx.save(model, tmp_path / "made.onnx")
    program = "import sys, shutil; assert sys.argv[2] == '--to'; shutil.copy(*sys.argv[1:4:2])"
    assert exporter(program).run(FILE, [str(tmp_path / "made.onnx")], "--to") == model


@pytest.mark.parametrize(
    ("program", "words"),
    [
        ("raise SystemExit('no such operator: Foo')", "no such operator: Foo; export it"),
        ("import os; os.abort()", "makes no ONNX model of 'm.tflite'"),
        ("pass", "makes no ONNX model of 'm.tflite'; export it"),
        ("print('a\\x1b[2Jb')", r"a\\x1b\[2Jb"),
        ("import sys; open(sys.argv[-1], 'wb').write(b'\\xff')", "makes no ONNX model"),
    ],
)
def test_what_fails_is_one_sentence(
    exporter: Callable[..., Exporter], program: str, words: str
) -> None:
    with pytest.raises(HexsimError, match=words) as caught:
        exporter(program).run(FILE, [], "--to")
    assert str(caught.value).isprintable()


def test_it_has_a_budget(
    exporter: Callable[..., Exporter], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HEXSIM_BUDGET", "0.0005")
    with pytest.raises(HexsimError, match=r"is not done with .* seconds in an exporter"):
        exporter("import time; time.sleep(60)").run(FILE, [], "--to")


def test_what_is_missing_is_named(exporter: Callable[..., Exporter]) -> None:
    with pytest.raises(HexsimError, match=r"is a thing, .*pip install .*\[tflite\]'"):
        exporter("pass", "no_such_module").require(FILE, "a thing")


def test_a_graph_must_be_told_its_ends(tmp_path: Path) -> None:
    path = tmp_path / "m.pb"
    path.write_bytes(b"\x0a\x1c\x0a\x05input\x12\x0bPlaceholder\x2a\x06ignore")
    with pytest.raises(HexsimError, match=r"input_dims={'NAME': .* output_names='NAME'"):
        load(path)
    with pytest.raises(HexsimError, match="is not the name of a TensorFlow tensor"):
        load(path, input_dims={"a,b": (1,)}, output_names=["c"])
