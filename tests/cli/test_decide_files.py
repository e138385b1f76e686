"""`hexsim decide --files` as typed."""

import csv
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from hexsim import dlc
from hexsim.quantization.model import Model
from hexsim.texts.figures import figure, percent
from tests.accuracy import culprits

Command = Callable[[str], tuple[int, str, str]]


@pytest.fixture(autouse=True)
def files(tmp_path: Path) -> None:
    """m.dlc, q.dlc made from it; list.txt with labels.txt."""
    dlc.write(tmp_path / "m.dlc", Model(culprits.network("outlier")))
    dlc.write(tmp_path / "q.dlc", culprits.quantized("outlier"))
    for index, feed in enumerate(culprits.inputs(4)):
        feed["in"].tofile(tmp_path / f"{index}.raw")
    (tmp_path / "list.txt").write_text("".join(f"{index}.raw\n" for index in range(4)))
    (tmp_path / "labels.txt").write_text("1\n2\n3\n4\n")


def test_table_json_and_csv_say_the_same(command: Command, tmp_path: Path) -> None:
    code, out, err = command(
        "decide m.dlc --files --chips sd855 --input-list list.txt --labels labels.txt "
        "--json t.json --csv t.csv"
    )
    assert (code, err) == (0, "")
    lines = [line for line in out.splitlines() if line.startswith(("float ", "quantised "))]
    assert len(lines) == 2 * 6 + 2, "and why two are refused"
    document = json.loads((tmp_path / "t.json").read_text())
    with (tmp_path / "t.csv").open() as file:
        rows = list(csv.DictReader(file))
    for line, row, choice in zip(lines[:12], rows, document["files"], strict=True):
        outputs = choice.pop("outputs")
        assert row == {key: "" if v is None else str(v) for key, v in choice.items()}
        expected = [{"tensor": "scores", "sqnr_db": choice["sqnr_db"], "negligible": False}]
        assert outputs == ([] if choice["refusal"] else expected)
        if choice["refusal"]:
            assert line.endswith("refused")
            assert f"float on {choice['runtime']}: {choice['refusal']}" in lines[12:]
            assert choice["total_inference_us"] is None
        else:
            assert figure(choice["total_inference_us"] / 1e3) in line
            assert figure(choice["initialisation_us"] / 1e3) in line
            assert percent(choice["runtime_top1"] / 2) in line
    assert "the 2nd, 4th, ... of inputs of 'list.txt'" in out


def test_a_quantized_file_alone_and_with_its_float_model(command: Command) -> None:
    code, out, _ = command("decide q.dlc --files --chips sd835")
    assert code == 0
    assert "\nfloat" not in out
    assert "which are rounded already" in out
    code, out, _ = command("decide q.dlc --files --chips sd835 --float m.dlc --no-cpu-fallback")
    assert code == 0
    assert "\nfloat" in out
    assert "encodings of the file" in out


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("none.dlc", "no such file"),
        ("m.dlc --float q.dlc", "--float goes with a quantised model"),
        ("q.dlc --float q.dlc", "is quantised already"),
        ("m.dlc --chips sd778g", "cannot be simulated"),
        ("m.dlc --stack none", "unknown stack 'none'"),
        ("m.dlc --perf-profile fast", "unknown performance profile 'fast'"),
        ("m.dlc --labels labels.txt", "give both"),
        ("m.dlc --json no/t.json", "cannot write"),
        ("m.dlc --images none", "cannot read folder"),
    ],
)
def test_mistakes(refused: Callable[[str], str], line: str, sentence: str) -> None:
    assert sentence in refused(f"decide --files --chips sd835,sd855,sd865 {line}")
