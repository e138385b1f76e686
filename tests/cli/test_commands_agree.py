"""No two commands contradict each other: the same file on the same runtime has one time, one
accuracy, and words that its figures bear out."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hexsim import dlc
from hexsim.accuracy.distance import Distance
from hexsim.api import compile_hta, run
from hexsim.quantization.model import Model
from hexsim.quantization.optimizations import quantize_optimized
from hexsim.quantization.quantizer import quantize
from hexsim.texts.figures import figure
from tests.accuracy import culprits
from tests.cli.conftest import Done

Command = Callable[[str], Done]


@pytest.fixture(autouse=True)
def files(tmp_path: Path) -> None:
    """float.dlc; quantised.dlc and sections.dlc made from it; list.txt."""
    network = culprits.network("outlier")
    model = quantize(network, culprits.inputs(4))
    for name, saved in (
        ("float", Model(network)),
        ("quantised", model),
        ("sections", compile_hta(model)),
    ):
        dlc.write(tmp_path / f"{name}.dlc", saved)
    for index, feed in enumerate(culprits.inputs(4)):
        feed["in"].tofile(tmp_path / f"{index}.raw")
    (tmp_path / "list.txt").write_text("".join(f"{index}.raw\n" for index in range(4)))


def bench(command: Command, options: str) -> dict[str, dict[str, Any]]:
    """The results of a benchmark on the Snapdragon 855 by runtime."""
    done = command(f"bench --chip sd855 --json bench.json {options}")
    assert done.code == 0, done.err
    return {load["runtime"]: load for load in json.loads(Path("bench.json").read_text())["results"]}


@pytest.mark.parametrize("given", ["", "--input-list list.txt"])
@pytest.mark.parametrize("file", ["float", "quantised", "sections"])
def test_tradeoff_has_the_times_and_values_of_bench(
    command: Command, file: str, given: str
) -> None:
    """But bench quantises a float file for runtimes that refuse one."""
    expected = bench(command, f"--model {file}.dlc {given}")
    done = command(f"tradeoff {file}.dlc --chip sd855 {given} --json t.json")
    assert done.code == 0, done.err
    kind = "float" if file == "float" else "quantised"
    choices = [load for load in json.loads(Path("t.json").read_text())["choices"]]
    candidates = [choice for choice in choices if choice["file"] == kind and not choice["refusal"]]
    assert len(candidates) == (4 if file == "float" else 6)
    for candidate in candidates:
        theirs = expected[candidate["runtime"]]
        assert candidate["initialisation_us"] == pytest.approx(theirs["initialisation_total_us"])
        assert candidate["total_inference_us"] == pytest.approx(theirs["total_inference_us"])
        assert candidate["same_top1"] == theirs["accuracy"]["top1_agreement"]
        if theirs["accuracy"]["sqnr_db"] is not None:
            assert candidate["sqnr_db"] == pytest.approx(theirs["accuracy"]["sqnr_db"], abs=1e-6)


def test_tradeoff_says_of_loading_what_its_figures_say(command: Command) -> None:
    """What changes weights at load has a time of its own; nothing is called slower than another."""
    expected = bench(command, "--model quantised.dlc --runtime cpu --timing-only")
    spent_ms = expected["cpu"]["initialisation_us"]["dequantize"] / 1e3
    out = command("tradeoff quantised.dlc --chip sd855").out
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
    line = "validate cle.dlc --float float.dlc --input-list list.txt --labels labels.txt"
    answers = list(run(Model(network), [feed["in"] for feed in inputs], runtime="cpu"))
    others = list(run(model, [feed["in"] for feed in inputs]))
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
    plain = command("validate quantised.dlc --float float.dlc --input-list list.txt")
    assert "before equalisation" not in plain.out


def test_tradeoff_of_an_equalised_file_has_the_float_file_as_it_was_given(
    command: Command, tmp_path: Path
) -> None:
    network, inputs = culprits.network("outlier"), culprits.inputs(4)
    model = quantize_optimized(network, lambda: inputs, None, ["cle"]).model
    dlc.write(tmp_path / "cle.dlc", model)
    done = command("tradeoff cle.dlc --float float.dlc --input-list list.txt --json t.json")
    assert done.code == 0, done.err
    choices = json.loads((tmp_path / "t.json").read_text())["choices"]
    (cpu,) = (
        choice for choice in choices if (choice["file"], choice["runtime"]) == ("float", "cpu")
    )
    assert cpu["sqnr_db"] is None
    (dsp,) = (
        choice for choice in choices if (choice["file"], choice["runtime"]) == ("float", "dsp")
    )
    expected = bench(command, "--model float.dlc --input-list list.txt --runtime dsp")["dsp"]
    assert dsp["initialisation_us"] == pytest.approx(expected["initialisation_total_us"])
