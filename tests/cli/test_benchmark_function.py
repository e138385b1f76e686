"""`hexsim.benchmark` and `hexsim.profile` answer as their commands, by every entry point."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import helper

import hexsim
from hexsim.results.benchmark import Benchmark

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
            "bench m.onnx --chip sd855 --runtime cpu,dsp",
            lambda model: hexsim.benchmark(model, chips="sd855", runtime=["cpu", "dsp"]),
        ),
        (
            "bench m.onnx --chip sd855,sd8gen2 --timing-only --uncertainty joint --draws 3",
            lambda model: hexsim.benchmark(
                [model], ["sd855", "sd8gen2"], timing_only=True, uncertainty="joint", draws=3
            ),
        ),
        (
            "profile m.onnx --chip sd855 --idle-ms 5 --uncertainty --background audio",
            lambda model: hexsim.profile(
                model, chip="sd855", idle_ms=5, uncertainty=True, background="audio"
            ),
        ),
    ],
    ids=["bench", "chips and draws", "profile"],
)
def test_a_function_gives_what_its_command_gives(
    small: Command, line: str, ask: Callable[[Any], Any]
) -> None:
    assert small(f"{line} --json command.json --csv command.csv")[0] == 0
    answers = [ask("m.onnx"), ask(hexsim.load("m.onnx"))]
    named = answers[0].to_json()
    assert named == Path("command.json").read_text()
    assert answers[0].to_csv() == Path("command.csv").read_text()
    in_memory = answers[1].to_json().replace('"source": "m"', '"source": "m.onnx"')
    assert in_memory == named


def test_a_file_that_is_read_back_is_written_as_it_was(small: Command) -> None:
    assert (
        small("bench m.onnx --chip sd855 --input-list list.txt --json a.json --csv a.csv")[0] == 0
    )
    again = Benchmark.load("a.json")
    assert again.to_json() == Path("a.json").read_text()
    assert again.to_csv() == Path("a.csv").read_text()


def test_inputs_in_memory_judge_as_those_of_a_list(small: Command) -> None:
    listed = hexsim.benchmark("m.onnx", "sd855", "dsp", inputs="list.txt")
    given = hexsim.benchmark("m.onnx", "sd855", "dsp", inputs=arrays(), labels=[1, 2, (0, 3)])
    (first,), (other,) = listed.results, given.results
    assert first.accuracy is not None
    assert other.accuracy is not None
    assert first.accuracy.sqnr_db == other.accuracy.sqnr_db
    assert (first.accuracy.top1_right, other.accuracy.inputs) == (None, 1)


def test_a_page_and_a_table_are_of_the_document(small: Command) -> None:
    answer = hexsim.profile("m.onnx", chip="sd855")
    answer.save("page.html")
    assert "conv" in Path("page.html").read_text()
    assert Path("page.html").read_text() == answer.html("again.html") == answer.html()
    assert Path("again.html").read_text() == answer.html()
    assert repr(answer).startswith("<Inference: m on the DSP (dsp) of sd855, 8 bits")
    rows = answer.to_dataframe()
    assert list(rows["name"]) == [layer.name for layer in answer.layers]
    assert "<th>cycles</th><th>us</th><th>MMAC</th>" in answer._repr_html_()
    assert answer.slowest(1)[0].us == max(layer.us for layer in answer.layers)
    assert sum(answer.by_type().values()) == pytest.approx(sum(x.us for x in answer.layers))
    with pytest.raises(hexsim.HexsimError, match=r"ends in none of \.json, \.csv, \.html"):
        answer.save("g.svg")


def test_mistakes_are_sentences_that_name_the_parameter(small: Command) -> None:
    for how, sentence in (
        ({"chp": "sd855"}, r"profile takes no 'chp'; did you mean chip\?"),
        ({"labels": [1]}, r"profile takes no 'labels'; hexsim\.benchmark, .* would take it"),
        ({"idle_ms": -1}, "idle_ms, the idle time before a call, is a number from 0 to"),
        ({"chip": "sd999"}, "unknown chip 'sd999'"),
        ({"runtime": "dps"}, "unknown runtime 'dps'"),
    ):
        with pytest.raises(hexsim.HexsimError, match=sentence):
            hexsim.profile("m.onnx", **how)
    for how, sentence in (
        ({"draws": 3}, "draws is for uncertainty='joint'"),
        ({"chip": "sd855"}, r"takes no 'chip'; did you mean chips\?"),
        ({"labels": [1]}, "labels goes with inputs, which judge the answers"),
        ({"inputs": arrays(), "labels": [1]}, "1 labels for 3 inputs; give one for each"),
        ({"inputs": arrays(), "timing_only": True}, "which timing_only leaves out"),
        ({"uncertainty": "all"}, "unknown uncertainty 'all'"),
    ):
        with pytest.raises(hexsim.HexsimError, match=sentence):
            hexsim.benchmark("m.onnx", "sd855", "dsp", **how)
