"""`--udl` of every command: layers of the user's own from ONNX to outputs, and what is refused."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnx
import pytest

import hexsim
from hexsim import dlc
from hexsim.udl import known, use_layers
from tests.cli.conftest import Done
from tests.own_layers import FILE, feed, model

Command = Callable[[str], Done]


@pytest.fixture(autouse=True)
def forgets(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """A function that makes this process know no layers, as a new one does; done already."""

    def forget() -> None:
        monkeypatch.setattr(known, "_GIVEN", {})

    forget()
    return forget


@pytest.fixture
def files(tmp_path: Path, forgets: Callable[[], None]) -> Path:
    """m.onnx and q.dlc of it, own.py, and an input with its list."""
    shutil.copy(FILE, tmp_path / "own.py")
    onnx.save(model(energy=True), tmp_path / "m.onnx")
    use_layers(tmp_path / "own.py")
    loaded = hexsim.load(model(energy=True))
    dlc.write(tmp_path / "q.dlc", hexsim.quantize(loaded, [feed()]))
    loaded.network.tensors["x"].from_source(feed()).tofile(tmp_path / "x.raw")
    (tmp_path / "list.txt").write_text("x.raw\n")
    forgets()
    return tmp_path


def test_from_onnx_to_outputs(files: Path, command: Command, forgets: Callable[[], None]) -> None:
    for line in (
        "convert m.onnx -o f.dlc --udl own.py",
        "quantize f.dlc --input-list list.txt -o f_q.dlc --udl own.py",
        "run --chip sd835 f_q.dlc --runtime dsp --input-list list.txt -o out --udl own.py",
    ):
        forgets()
        done = command(line)
        assert done.code == 0, line
        if line.startswith("convert"):
            assert "warning: node 'energy' (com.example.Energy): 'own.py' brings it" in done.err
            assert "'plus'" not in done.err, "the DSP takes it"
    use_layers(files / "own.py")
    coded = hexsim.quantize(hexsim.load(model(energy=True)), [feed()])
    expected = hexsim.simulate(coded, "sd835", "dsp", feed()).outputs
    assert expected is not None
    written = np.fromfile(files / "out" / "Result_0" / "y.raw", np.float32)
    np.testing.assert_array_equal(written, expected["y"].reshape(-1))


@pytest.mark.parametrize(
    "line",
    [
        "info q.dlc",
        "diff q.dlc q.dlc",
        "profile --chip sd835 q.dlc",
        "profile --chip sd835 m.onnx --runtime cpu",
        "bench --chip sd835 --model q.dlc",
        "throughput --chip sd835 q.dlc --inferences 1",
        "validate --chip sd835 q.dlc --input-list list.txt",
        "partition --chip sd855 q.dlc",
        "decide q.dlc --files --float m.onnx --chips sd835",
    ],
)
def test_every_command_that_reads_a_model_takes_it(
    line: str, files: Path, command: Command, forgets: Callable[[], None]
) -> None:
    done = command(f"{line} --udl own.py")
    assert done.code == 0, done.err
    forgets()
    without = command(line)
    assert (without.code, without.err.count("\n")) == (2, 1)
    assert "(--udl" in without.err


def test_a_file_without_its_layers_says_which(files: Path, refused: Callable[[str], str]) -> None:
    assert refused("info q.dlc") == (
        "hexsim: 'q.dlc': layer 'plus' is the user-defined operator com.example.Squareplus, that "
        "'own.py' brings; give it (--udl FILE)\n"
    )


def test_no_code_is_in_the_file(files: Path) -> None:
    data = (files / "q.dlc").read_bytes()
    assert b"com.example.Squareplus" in data
    assert b"own.py" in data
    for word in (b"squareplus_codes", b"sqrt", str(files).encode()):
        assert word not in data


def test_the_partition_says_why(files: Path, command: Command) -> None:
    done = command("partition --chip sd855 --runtime aip q.dlc --udl own.py --json p.json --wide")
    assert "com.example.Energy: 'own.py' brings it for cpu alone" in done.out
    engines = [load["engine"] for load in json.loads((files / "p.json").read_text())["pieces"]]
    assert engines == ["hta", "hvx", "hta", "hvx", "cpu"], "a permute stands before the last"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x =", "'own.py', line 1 cannot be run: SyntaxError"),
        ("import nothing_such", "'own.py', line 1 cannot be run: ModuleNotFoundError"),
        ("", "'own.py' defines no layer"),
    ],
)
def test_a_file_that_is_wrong_is_one_sentence(
    text: str, message: str, files: Path, refused: Callable[[str], str]
) -> None:
    (files / "own.py").write_text(text)
    assert message in refused("info m.onnx --udl own.py")


def test_the_file_is_never_overwritten(files: Path, refused: Callable[[str], str]) -> None:
    assert "would overwrite an input" in refused("convert m.onnx --udl own.py -o own.py")


def test_a_rule_that_changed_since_is_noticed(files: Path, refused: Callable[[str], str]) -> None:
    text = (files / "own.py").read_text().replace("[node.inputs[0]]", "[(1, 8, 16, 4)]")
    (files / "own.py").write_text(text)
    assert "layer 'plus' (UserDefined): its output is said to have the shape" in refused(
        "info q.dlc --udl own.py"
    )
