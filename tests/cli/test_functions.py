"""Functions of `hexsim` that are commands: the same bytes by both, and Python values."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import onnx
import pytest
from onnx import helper

import hexsim
from benchmarks.pages import CONCEPTS

Command = Callable[[str], tuple[int, str, str]]


@pytest.fixture
def small(command: Command, tmp_path: Path, onnx_model: Callable[..., onnx.ModelProto]) -> Command:
    """The commands, in a folder with m.onnx (convolution, ReLU), three inputs and their list."""
    nodes = [
        helper.make_node("Conv", ["x", "w"], ["c"], "conv"),
        helper.make_node("Relu", ["c"], ["y"], "relu"),
    ]
    weights = np.random.default_rng(0).normal(0, 1, (8, 4, 1, 1))
    onnx.save(onnx_model(nodes, {"x": (1, 4, 6, 5)}, ["y"], {"w": weights}), tmp_path / "m.onnx")
    for index, array in enumerate(arrays()):
        array.transpose(0, 2, 3, 1).tofile(tmp_path / f"{index}.raw")
    (tmp_path / "list.txt").write_text("0.raw\n1.raw\n2.raw\n")
    return command


def arrays() -> list[np.ndarray]:
    """Three inputs in the axis order of the ONNX file."""
    return [np.random.default_rng(n).normal(0, 1, (1, 4, 6, 5)).astype("f4") for n in (1, 2, 3)]


@pytest.mark.parametrize(
    ("line", "ask"),
    [
        (
            "throughput --chip sd835 "
            "m.onnx m.onnx --instances 2,1 --runtime dsp,cpu --inferences 3",
            lambda model: hexsim.throughput(
                model,
                model,
                instances=(2, 1),
                runtime=["dsp", "cpu"],
                inferences=3,
                chip="sd835",
            ),
        ),
        (
            "partition --chip sd855 m.onnx --search",
            lambda model: hexsim.partition(model, search=True, chip="sd855"),
        ),
    ],
    ids=lambda value: value.split()[0] if isinstance(value, str) else "",
)
def test_a_function_gives_what_its_command_gives(
    small: Command, line: str, ask: Callable[[object], Any]
) -> None:
    code, printed, _ = small(f"{line} --json command.json")
    assert code == 0
    for model in ("m.onnx", hexsim.load("m.onnx")):
        report = ask(model)
        report.save("function.json")
        assert Path("function.json").read_bytes() == Path("command.json").read_bytes()
        assert f"{report}\n" == printed.replace("\n\n\n", "\n\n")


def test_inputs_in_memory_are_those_of_files(small: Command) -> None:
    inputs = "m.onnx --input-list list.txt --chip sd855"
    choices: dict[str, Any] = {"chips": ["sd855"], "runtime": "dsp", "draws": 2}
    choices["modes"] = ["default", "enhanced"]
    assert small(f"validate --chip sd835 {inputs} --runtime dsp --json v.json")[0] == 0
    words = "--chips sd855 --runtime dsp --modes default,enhanced --draws 2"
    assert small(f"decide m.onnx --input-list list.txt {words} --json d.json")[0] == 0
    validated = hexsim.validate("m.onnx", inputs="list.txt", chip="sd855")
    assert validated.to_json() == Path("v.json").read_text()
    decided = hexsim.decide("m.onnx", inputs=Path("list.txt"), **choices)
    assert decided.to_json() == Path("d.json").read_text()
    model = hexsim.load("m.onnx")
    given = hexsim.validate(model, inputs=arrays(), chip="sd855")
    assert given.layers == validated.layers
    assert not hexsim.decide(model, inputs=arrays(), max_ms=1e-6, **choices).choices


def test_results_are_compared_and_a_report_shows_itself(small: Command) -> None:
    before, after = (hexsim.profile("m.onnx", chip=chip) for chip in ("sd835", "sd855"))
    before.save("a.json")
    after.save("b.json")
    assert small("compare a.json b.json --json c.json")[0] == 0
    report = hexsim.compare(before, after)
    assert report.to_json() == Path("c.json").read_text()
    assert hexsim.compare("a.json", Path("b.json")).cases == report.cases
    page = ElementTree.fromstring(f"<div>{report._repr_html_()}</div>")
    assert [*page.iter("tr")], "its tables are tables of HTML"
    with pytest.raises(hexsim.HexsimError, match="ends in none of"):
        report.save("g.svg")


def test_mistakes_are_sentences(small: Command) -> None:
    for given, sentence in (
        ({"chp": "sd855"}, r"partition takes no 'chp'; did you mean chip\?"),
        ({"explain": True}, r"partition takes no 'explain'; hexsim\.validate would take it"),
        ({"search": "yes"}, "search is 'yes' .str.; hexsim.partition takes bool"),
        ({"chip": "sd999"}, "unknown chip 'sd999'"),
    ):
        with pytest.raises(hexsim.HexsimError, match=sentence):
            hexsim.partition("m.onnx", **given)
    with pytest.raises(hexsim.HexsimError, match=r"inferences is 2\.5 \(float\); .*"):
        hexsim.throughput("m.onnx", inferences=2.5, chip="sd835")
    with pytest.raises(
        hexsim.HexsimError, match="throughput needs a model; give one or more first"
    ):
        hexsim.throughput(chip="sd835")


def test_the_page_runs_as_it_is(small: Command, capsys: pytest.CaptureFixture[str]) -> None:
    page = (CONCEPTS / "running.md").read_text(encoding="utf-8")
    (code,) = (
        block for block in re.findall(r"```python\n(.*?)```", page, re.S) if "compare(" in block
    )
    names: dict[str, object] = {}
    exec(code, names)
    assert Path("before.csv").is_file()
    assert 0 < names["milliseconds"] < 100  # type: ignore[operator]
    assert "squeezenet1_1 on dsp" in capsys.readouterr().out
