"""No two commands contradict each other: the same file on the same runtime has one time, one
accuracy, and words that its figures bear out."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import helper

from hexsim import dlc
from hexsim.accuracy.output_errors import Distance
from hexsim.api.model import compile_hta, run
from hexsim.quantization.model import Model
from hexsim.quantization.optimizations import quantize_optimized
from hexsim.quantization.quantizer import quantize
from hexsim.results.accuracy import OutputAccuracy, each_output
from hexsim.texts.figures import figure
from tests.accuracy import culprits
from tests.cli.conftest import Done
from tests.conftest import make_model

Command = Callable[[str], Done]


@pytest.fixture(autouse=True)
def files(tmp_path: Path) -> None:
    """float.dlc; quantised.dlc and sections.dlc made from it; list.txt."""
    network = culprits.network("outlier")
    model = quantize(network, culprits.inputs(4))
    for name, saved in (
        ("float", Model(network)),
        ("quantised", model),
        ("sections", compile_hta(model, "sd855")),
    ):
        dlc.write(tmp_path / f"{name}.dlc", saved)
    for index, feed in enumerate(culprits.inputs(4)):
        feed["in"].tofile(tmp_path / f"{index}.raw")
    (tmp_path / "list.txt").write_text("".join(f"{index}.raw\n" for index in range(4)))


@pytest.fixture
def heads(tmp_path: Path) -> None:
    """heads.onnx and x.txt: large `boxes`, and small `scores` whose codes are all the same."""
    rng = np.random.default_rng(3)
    weights = {
        "w": rng.normal(0, 0.3, (8, 3, 3, 3)),
        "large": rng.normal(0, 1, (4, 8, 3, 3)),
        "small": rng.normal(0, 1e-3, (2, 8, 1, 1)),
        "far": np.reshape([0.0, 500.0], (1, 2, 1, 1)),
    }
    weights["small"][1] *= 100
    nodes = [
        helper.make_node("Conv", ["x", "w"], ["c"], "stem", pads=[1] * 4),
        helper.make_node("Relu", ["c"], ["r"], "relu"),
        helper.make_node("Conv", ["r", "large"], ["boxes"], "large", pads=[1] * 4),
        helper.make_node("Conv", ["r", "small"], ["s"], "small"),
        helper.make_node("Add", ["s", "far"], ["both"], "far"),
        helper.make_node("Split", ["both"], ["scores", "others"], "split", axis=1),
    ]
    outputs = ["boxes", "scores", "others"]
    onnx.save(make_model(nodes, {"x": [1, 3, 8, 8]}, outputs, weights), tmp_path / "heads.onnx")
    for index in range(4):
        rng.standard_normal((1, 3, 8, 8), np.float32).tofile(tmp_path / f"x{index}.raw")
    (tmp_path / "x.txt").write_text("".join(f"x{index}.raw\n" for index in range(4)))


@pytest.mark.usefixtures("heads")
def test_all_commands_have_the_same_figure_for_each_output_and_judge_by_the_worst(
    command: Command, tmp_path: Path
) -> None:
    on, listed = "--chip sd855 --input-list x.txt", "--chips sd855 --input-list x.txt"
    lines = {
        f"validate --chip sd835 heads.onnx {on} --json validate.json": "validate.json",
        f"bench --chip sd835 heads.onnx {on} --runtime dsp,gpu --json bench.json": "bench.json",
        f"decide heads.onnx --chips sd835 --files {listed} --json files.json": "files.json",
        "decide heads.onnx --chips sd855 --input-list x.txt --modes default --runtime dsp "
        "--draws 0 --json decide.json": "decide.json",
        "quantize heads.onnx --chip sd855 --input-list x.txt --part calibrate -o q.dlc": "",
    }
    said = {lines[line].removesuffix(".json") or "quantize": command(line) for line in lines}
    assert {done.code for done in said.values()} == {0}
    document = {name: json.loads((tmp_path / name).read_text()) for name in lines.values() if name}
    (bench_dsp, bench_gpu) = document["bench.json"]["results"]
    (files_dsp,) = (
        choice
        for choice in document["files.json"]["files"]
        if (choice["file"], choice["runtime"]) == ("float", "dsp")
    )
    documents = {
        "validate": (document["validate.json"], "output_sqnr_db"),
        "bench": (bench_dsp["accuracy"], "sqnr_db"),
        "files": (files_dsp, "sqnr_db"),
        "decide": (document["decide.json"]["choices"][0], "sqnr_db"),
    }
    dbs = {}
    for name, (facts, key) in documents.items():
        dbs[name] = {output["tensor"]: output["sqnr_db"] for output in facts["outputs"]}
        assert list(dbs[name]) == ["boxes", "scores", "others"]
        assert facts[key] == dbs[name]["scores"] == min(dbs[name].values()) < 1.0, name
        assert dbs[name]["boxes"] > 20.0
        assert dbs[name] == pytest.approx(dbs["validate"], abs=1e-6), name
    words = each_output(
        [OutputAccuracy(tensor=name, sqnr_db=db) for name, db in dbs["validate"].items()]
    )
    for name in (*documents, "quantize"):
        assert words.removeprefix("each output") in said[name].out.replace("\n", " "), name
    assert "The outputs of no choice have 10 dB" in said["decide"].out
    assert bench_gpu["accuracy"]["sqnr_db"] > 40.0


@pytest.mark.usefixtures("heads")
def test_what_kills_an_output_is_found_and_ranked_and_compared(command: Command) -> None:
    """As a large output hid it, no layer mattered and every remedy looked alike."""
    done = command(
        "validate heads.onnx --chip sd855 --input-list x.txt --explain --sensitivity --json v.json"
    )
    document = json.loads(Path("v.json").read_text())
    assert any(finding["layer"] == "split" for finding in document["findings"])
    assert "(before a final softmax), 0" in done.out.split("remedies tried")[1].splitlines()[0]
    assert document["sensitivity"]["all_db"] < 1.0
    ranked = {layer["layer"]: layer["only_db"] for layer in document["sensitivity"]["layers"]}
    assert next(iter(ranked)) == "small"
    assert ranked["small"] < 1.0 < 20.0 < ranked["large"]
    for name in ("one", "two"):
        command(f"bench heads.onnx --chip sd855 --runtime dsp --json {name}.json")
    table = command("compare one.json two.json").out
    assert [f"SQNR of '{name}'" in table for name in ("boxes", "scores", "others")] == [True] * 3


def bench(command: Command, options: str) -> dict[str, dict[str, Any]]:
    """The results of a benchmark on the Snapdragon 855 by runtime."""
    done = command(f"bench --chip sd855 --json bench.json {options}")
    assert done.code == 0, done.err
    return {load["runtime"]: load for load in json.loads(Path("bench.json").read_text())["results"]}


@pytest.mark.parametrize("given", ["", "--input-list list.txt"])
@pytest.mark.parametrize("file", ["float", "quantised", "sections"])
def test_files_have_the_times_and_values_of_bench(command: Command, file: str, given: str) -> None:
    """But bench quantises a float file for runtimes that refuse one."""
    expected = bench(command, f"--model {file}.dlc {given}")
    done = command(f"decide {file}.dlc --files --chips sd855 {given} --json t.json")
    assert done.code == 0, done.err
    kind = "float" if file == "float" else "quantised"
    choices = [load for load in json.loads(Path("t.json").read_text())["files"]]
    candidates = [choice for choice in choices if choice["file"] == kind and not choice["refusal"]]
    assert len(candidates) == (4 if file == "float" else 6)
    for candidate in candidates:
        theirs = expected[candidate["runtime"]]
        assert candidate["initialisation_us"] == pytest.approx(theirs["initialisation_total_us"])
        assert candidate["total_inference_us"] == pytest.approx(theirs["total_inference_us"])
        assert candidate["same_top1"] == theirs["accuracy"]["top1_agreement"]
        if theirs["accuracy"]["sqnr_db"] is not None:
            assert candidate["sqnr_db"] == pytest.approx(theirs["accuracy"]["sqnr_db"], abs=1e-6)


def test_decide_says_of_loading_what_its_figures_say(command: Command) -> None:
    """What changes weights at load has a time of its own; nothing is called slower than another."""
    expected = bench(command, "--model quantised.dlc --runtime cpu --timing-only")
    spent_ms = expected["cpu"]["initialisation_us"]["dequantize"] / 1e3
    out = command("decide quantised.dlc --files --chips sd855").out
    lines = [line for line in out.splitlines() if line.startswith("quantised  ")]
    said = f"weights are dequantised at load ({figure(spent_ms)} ms)"
    assert [said in line for line in lines] == [True, False, True, True, False, False]


def test_bench_gives_a_runtime_the_same_however_it_is_named(command: Command) -> None:
    every = bench(command, "--model float.dlc")
    named = bench(command, "--model float.dlc --runtime dsp,aip")
    assert list(named) == ["dsp", "aip"]
    assert named == {runtime: every[runtime] for runtime in named}
    assert named["aip"]["given"] == "quantised here"


def test_bench_leaves_out_what_refuses_a_float_file_if_told_so(command: Command) -> None:
    done = command("bench --model float.dlc --chip sd855 --no-quantize --json bench.json")
    document = json.loads(Path("bench.json").read_text())
    assert {refusal["runtime"] for refusal in document["refused"]} == {"fxp_cpu", "aip"}
    assert "on aip is left out" in done.out


def test_validate_tells_how_the_float_file_did_before_it_was_equalised(
    command: Command, tmp_path: Path
) -> None:
    network, inputs = culprits.network("outlier"), culprits.inputs(4)
    model = quantize_optimized(network, lambda: inputs, None, ["cle"]).model
    assert model.equalized
    dlc.write(tmp_path / "cle.dlc", model)
    line = (
        "validate --chip sd835 cle.dlc --float float.dlc --input-list list.txt --labels labels.txt"
    )
    answers = list(
        run(Model(network), [feed["in"] for feed in inputs], runtime="cpu", chip="sd835")
    )
    others = list(run(model, [feed["in"] for feed in inputs], chip="sd835"))
    right = [int(np.argmax(answer["scores"])) for answer in answers]
    (tmp_path / "labels.txt").write_text("".join(f"{label}\n" for label in right))
    done = command(f"{line} --json v.json")
    assert done.code == 0, done.err
    before = json.loads((tmp_path / "v.json").read_text())["before_equalization"]
    distance = Distance()
    for answer, other in zip(answers, others, strict=True):
        distance.add(answer["scores"], other["scores"])
    assert before["output_sqnr_db"] == pytest.approx(distance.sqnr_db, abs=1e-4)
    assert (before["hits"]["float_top1"], before["hits"]["inputs"]) == (4, 4)
    assert "float model before equalisation: top-1 100%" in done.out
    plain = command("validate --chip sd835 quantised.dlc --float float.dlc --input-list list.txt")
    assert "before equalisation" not in plain.out


def test_decide_on_an_equalised_file_has_the_float_file_as_it_was_given(
    command: Command, tmp_path: Path
) -> None:
    network, inputs = culprits.network("outlier"), culprits.inputs(4)
    model = quantize_optimized(network, lambda: inputs, None, ["cle"]).model
    dlc.write(tmp_path / "cle.dlc", model)
    done = command(
        "decide cle.dlc --files --chips sd835 --float float.dlc --input-list list.txt --json t.json"
    )
    assert done.code == 0, done.err
    choices = json.loads((tmp_path / "t.json").read_text())["files"]
    (cpu,) = (
        choice for choice in choices if (choice["file"], choice["runtime"]) == ("float", "cpu")
    )
    assert cpu["sqnr_db"] is None
    (dsp,) = (
        choice for choice in choices if (choice["file"], choice["runtime"]) == ("float", "dsp")
    )
    expected = bench(command, "--model float.dlc --input-list list.txt --runtime dsp")["dsp"]
    assert dsp["initialisation_us"] == pytest.approx(expected["initialisation_total_us"])
