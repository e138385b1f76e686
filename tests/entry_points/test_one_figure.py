"""A figure has one owner: every command, its JSON and CSV, its page, and Python say the same of it.

Times, intervals, shares of layers, engines, agreement with float, memory and energy of networks on
the runtimes of chips are compared over all commands that have them.
"""

import csv
import html
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import hexsim
from hexsim.cli._signature import option
from hexsim.errors import spelling_as
from hexsim.texts.figures import figure, size, span
from tests.cli.conftest import Done

Command = Callable[[str], Done]
DB = 1e-3
"""Difference of SQNR: where every tensor is read, onnxruntime fuses fewer float layers, which round
in another order."""
QUICK = (("ds_cnn_s", "sd855", "dsp"),)
SLOW = (
    ("conv1x1_1to1", "sd835", "dsp"),
    ("conv1x1_1to1@256x256", "sd845", "dsp"),
    ("conv1x1_768to768@1024x1", "sd855", "aip"),
    ("conv1x1_960to960@1x113", "sd8gen1", "htp"),
    ("conv1x1_3072to768@1024x1", "sd888", "htp"),
    ("ds_cnn_s", "sd8gen2", "htp"),
    ("ds_cnn_s", "sd820", "dsp"),
    ("ds_cnn_s", "qcs610", "dsp"),
    ("ds_cnn_s", "sd8gen3", "htp"),
    ("ds_cnn_s", "sd845", "fxp_cpu"),
    ("dronet_112", "sd660", "dsp"),
    ("dronet_112", "sd8gen4", "htp"),
    ("squeezenet1_1", "sd835", "dsp"),
    ("squeezenet1_1", "sd855", "aip"),
    ("mobilenet_v1", "sd710", "dsp"),
    ("mobilenet_v2", "sd855", "dsp"),
    ("mobilenet_v2", "qcs8550", "htp"),
    ("mobilenet_v3_large_0_5", "sd8gen1", "htp"),
    ("efficientnet_b0_64x85", "sd8gen2", "htp"),
    ("resnet18_hub", "sd865", "dsp"),
    ("alexnet", "sd660", "cpu"),
)


def run(command: Command, line: str) -> Done:
    done = command(line)
    assert done.code == 0, done.err
    return done


def flat(text: str) -> str:
    return " ".join(text.split())


def documents(command: Command, network: str, on: str, runtime: str) -> dict[str, Any]:
    """The JSON of the commands on a network, by command, and what they print."""
    lines = {
        "bench": f"bench --chip sd835 {network} {on} --csv b.csv --html b.html --json bench.json",
        "profile": f"profile --chip sd835 {network} {on} --json profile.json",
        "throughput": "throughput --chip sd835 "
        f"{network} {on} --inferences 1 --json throughput.json",
        "info": f"info {network} {on} --json info.json",
    }
    if runtime not in ("cpu", "gpu"):
        lines["validate"] = f"validate --chip sd835 {network} {on} --json validate.json"
    said = {name: flat(run(command, line).out) for name, line in lines.items()}
    said["overview"] = flat(run(command, f"{network} {on}").out)
    read = {name: json.loads(Path(f"{name}.json").read_text()) for name in lines}
    return {"said": said, **read}


def check(command: Command, network: str, chip: str, runtime: str) -> None:
    on = f"--chip {chip} --runtime {runtime}"
    answers = documents(command, network, on, runtime)
    said, (case,) = answers["said"], answers["bench"]["results"]
    with spelling_as(option):  # what findings advise is spelled as the program in use does
        by_api = hexsim.benchmark(network, chip, runtime)
    assert json.loads(by_api.to_json())["results"] == [case]
    assert json.loads(Path("bench.json").read_text()) == json.loads(by_api.to_json())
    (inference,) = by_api.results
    profiled = answers["profile"]["results"][0]
    us = case["total_inference_us"]
    # times
    assert inference.total_inference_us == us == profiled["total_inference_us"]
    (thread,) = answers["throughput"]["threads"]
    assert thread["latencies_us"] == [us]
    listed = answers["info"]["times"]
    assert listed["total_us"] == hexsim.simulate(network, chip, runtime).total_us == us
    with Path("b.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    totals = {float(row["total_inference_us"]) for row in rows if row.get("total_inference_us")}
    assert totals <= {us}
    assert f"{figure(us / 1e3)} ms" in said["overview"]
    assert figure(us / 1e3) in said["bench"]
    assert figure(us) in said["profile"]
    # intervals
    low, high = case["uncertainty"]["total_inference_us"]
    interval = span(low / 1e3, high / 1e3)
    assert interval in said["overview"]
    assert low <= us <= high
    # layers: engines and times
    layers = [(layer["name"], layer["engine"], layer["us"]) for layer in case["layers"]]
    assert layers == [(row["name"], row["engine"], row["us"]) for row in profiled["layers"]]
    assert layers == [(layer.name, layer.engine, layer.us) for layer in inference.layers]
    assert [us for _, _, us in layers] == [listed["layers_us"][name] for name, _, _ in layers]
    # memory and energy
    assert case["memory"] == profiled["memory"]
    assert size(case["memory"]["peak_bytes"]) in said["overview"]
    assert case["energy"] == profiled["energy"]
    # agreement with float
    if "validate" in answers:
        validated = hexsim.validate(network, chip, runtime)
        db = case["accuracy"]["sqnr_db"]
        assert answers["validate"]["output_sqnr_db"] == pytest.approx(db, abs=DB)
        assert json.loads(validated.to_json())["outputs"] == answers["validate"]["outputs"]
        assert json.loads(validated.to_json())["output_sqnr_db"] == pytest.approx(db, abs=DB)
        assert figure(db) in said["validate"]
        assert figure(db) in said["bench"]
    page = html.unescape(Path("b.html").read_text())
    assert figure(us / 1e3) in page


@pytest.mark.parametrize(("network", "chip", "runtime"), QUICK)
def test_all_say_the_same(command: Command, network: str, chip: str, runtime: str) -> None:
    check(command, network, chip, runtime)


@pytest.mark.slow
@pytest.mark.parametrize(("network", "chip", "runtime"), SLOW)
def test_all_say_the_same_of_others(
    command: Command, network: str, chip: str, runtime: str
) -> None:
    check(command, network, chip, runtime)
