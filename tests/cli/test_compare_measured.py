"""`hexsim compare --measured` sets the profile of a phone beside the simulation of a model."""

import csv
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

import hexsim
from hexsim.texts.figures import figure
from tests.cli.conftest import Done
from tests.deployment.phone_profile.files import FILES

Command = Callable[[str], Done]
CONV = "/block.0/conv/Conv"


@pytest.fixture(autouse=True)
def files(tmp_path: Path) -> None:
    """m.onnx, a convolution with an activation and a pooling layer, and its profiles."""
    weight = np.random.default_rng(0).normal(size=(32, 16, 3, 3)).astype(np.float32)
    image = helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 16, 32, 32])
    output = helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 32, 16, 16])
    nodes = [
        helper.make_node("Conv", ["x", "w"], ["c"], name=CONV, pads=[1, 1, 1, 1]),
        helper.make_node("Relu", ["c"], ["r"], name="act"),
        helper.make_node("MaxPool", ["r"], ["y"], "pool", kernel_shape=[2, 2], strides=[2, 2]),
    ]
    graph = helper.make_graph(
        nodes, "small", [image], [output], [numpy_helper.from_array(weight, "w")]
    )
    onnx.save(helper.make_model(graph), tmp_path / "m.onnx")
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)


def compared(command: Command, line: str) -> Any:
    done = command(f"compare m.onnx {line} --json c.json --csv c.csv")
    assert (done.code, done.err) == (0, "")
    return json.loads(Path("c.json").read_text())


@pytest.mark.parametrize(
    ("line", "runtime", "conv", "pool", "only"),
    [
        ("--measured bench.csv --chip sd855 --runtime dsp", "dsp", 120.0, 20.0, ["x", 4]),
        ("--measured bench.csv --chip sd855 --buffer tf8", "dsp", 100.0, 19.0, ["x"]),
        ("--measured bench.csv --chip sd855", "cpu", 450.0, 30.0, ["x", 4]),
        ("--measured diag.txt --chip sd855", "dsp", 120.0, 20.0, [0]),
        ("--measured diag2.txt --chip sd8gen3", "htp", 100.0, 37.5, ["Input"]),
        ("--measured qnn.csv --chip sd8gen3", "htp", 90.0, 30.0, []),
        ("--measured hub.json --chip sd8gen3", "htp", 90.0, 30.0, []),
        ("--measured hub.json --chip sd855 --runtime cpu", "cpu", 90.0, 30.0, []),
    ],
)
def test_every_format_finds_the_layers(
    command: Command, line: str, runtime: str, conv: float, pool: float, only: list[str | int]
) -> None:
    document = compared(command, line)
    assert document["runtime"] == runtime
    measured = {layer["name"]: layer["measured_us"] for layer in document["layers"]}
    assert measured == pytest.approx({CONV: conv, "pool": pool})
    unmatched = document["only_measured"]
    assert [row["name"] or row["id"] for row in unmatched] == only
    assert document["only_simulated"] == []


def test_the_function_gives_what_the_command_gives(command: Command) -> None:
    document = compared(command, "--measured bench.csv --chip sd855 --runtime dsp --buffer tf8")
    for model in ("m.onnx", hexsim.load("m.onnx")):
        beside = hexsim.compare_measured(model, "bench.csv", "sd855", "dsp", buffer="tf8")
        facts = json.loads(beside.to_json())
        assert facts == document
    with pytest.raises(hexsim.HexsimError, match="takes no 'chp'; did you mean chip"):
        hexsim.compare_measured("m.onnx", "bench.csv", chp="sd855")  # type: ignore[call-arg]


def test_simulated_times_are_those_of_a_simulation(command: Command) -> None:
    document = compared(command, "--measured bench.csv --chip sd855 --runtime dsp")
    alone = hexsim.simulate("m.onnx", "sd855", "dsp", perf_profile="burst")
    us = {layer.name: layer.us for layer in alone.layers}
    assert {layer["name"]: layer["simulated_us"] for layer in document["layers"]} == us
    for layer in document["layers"]:
        assert layer["ratio"] == layer["simulated_us"] / layer["measured_us"]
    classes = {pair["name"]: pair["measured_us"] for pair in document["classes"]}
    assert classes == {"convolutional (1)": 120.0, "pooling (1)": 20.0}
    both, total, forward = document["totals"]
    assert (both["measured_us"], both["simulated_us"]) == (140.0, sum(us.values()))
    assert (total["measured_us"], total["simulated_us"]) == (300.0, alone.total_us)
    assert (forward["measured_us"], forward["simulated_us"]) == (200.0, alone.timing.forward_us)
    with Path("c.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [row["kind"] for row in rows] == [
        *["layer"] * 2,
        *["class"] * 2,
        *["total"] * 3,
        *["only measured"] * 2,
    ]


def test_text_has_layers_classes_and_sums(command: Command) -> None:
    done = command("compare m.onnx --measured bench.csv --chip sd855 --runtime dsp")
    lines = [line.split() for line in done.out.splitlines()]
    assert [CONV, "convolutional", "2", "120"] in [line[:4] for line in lines]
    assert ["all", "layers", "of", "both", "140"] in [line[:5] for line in lines]
    assert "only measured: 2 layers, 12.0 us\n  x: 8.00 us\n  layer 4: 4.00 us" in done.out


def test_rows_for_calibration_have_all_runtimes(command: Command) -> None:
    line = "compare m.onnx --measured bench.csv --chip sd855 --runtime dsp --rows rows.csv"
    assert command(line).code == 0
    with Path("rows.csv").open() as file:
        conv, pool = csv.DictReader(file)
    assert (conv["layer"], conv["index"], conv["type"]) == (CONV, "1", "convolutional")
    assert (conv["output_nchw"], pool["output_nchw"]) == ("1x32x32x32", "1x32x16x16")
    assert (conv["chip"], conv["profile"]) == ("sd855", "burst")
    assert [float(conv[f"{name}_us"]) for name in ("dsp", "dsp_min", "dsp_max", "cpu")] == [
        *(120.0, 116.0, 125.0, 450.0)
    ]
    assert (conv["gpu_us"], conv["dsp_tf8_buffers_us"]) == ("", "100.0")


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("compare m.onnx", "give a second result"),
        ("compare m.onnx bench.csv --chip sd855", "--chip goes with --measured"),
        ("compare m.onnx bench.csv --rows r.csv", "--rows goes with --measured"),
        ("compare m.onnx bench.csv --measured qnn.csv", "leave 'bench.csv' out"),
        ("compare m.onnx --measured qnn.csv --fail-above 5%", "leave --fail-above out"),
        ("compare hub.json --measured qnn.csv", "'hub.json' is no model"),
        ("compare m.onnx --measured hub.json", "--measured needs the chip of that phone"),
        ("compare m.onnx --measured gone.csv", "cannot read profile 'gone.csv'"),
        ("compare m.onnx --measured m.onnx", "m.onnx"),
        (
            "compare m.onnx --measured bench.csv --runtime gpu --chip sd855",
            "has no layers of gpu, only of cpu",
        ),
        (
            "compare alexnet --measured hub.json --chip sd855",
            "no layer of the profile is one of network",
        ),
        ("compare alexnet --measured diag.txt --chip sd855", "numbers and no names, up to 3"),
        ("compare m.onnx --measured qnn.csv --rows qnn.csv", "would overwrite an input"),
    ],
)
def test_bad_input(refused: Callable[[str], str], line: str, said: str) -> None:
    assert said in refused(line)


@pytest.mark.slow
def test_a_profile_is_an_anchor_by_every_entry_point(command: Command, tmp_path: Path) -> None:
    """The phone takes 90 and 30 us; commands, files and the API then say the same time."""
    anchor, where = "m.onnx=hub.json", "--chip sd8gen3 --runtime htp"
    space = 'networks = ["m.onnx"]\nchips = ["sd8gen3"]\nruntimes = ["htp"]\n'
    (tmp_path / "s.toml").write_text(f'{space}anchor = "{anchor}"\n')
    options = "--timing-only --uncertainty one"
    lines = {
        "b.json": f"bench --chip sd835 m.onnx {where} {options} --anchor {anchor} --json b.json",
        "p.json": f"profile --chip sd835 m.onnx {where} --anchor {anchor} --json p.json",
        "d.json": f"decide m.onnx --chips sd8gen3 --runtime htp --modes default --draws 0 "
        f"--anchor {anchor} --json d.json",
        "c.json": f"compare m.onnx --measured hub.json --chip sd8gen3 --anchor {anchor} "
        "--json c.json",
        "s.parquet": "sweep s.toml --workers 1",
        "s.json": "sweep show s.parquet --json s.json",
    }
    results = {name: command(line) for name, line in lines.items()}
    assert {done.code for done in results.values()} == {0}
    read = {name: json.loads(Path(name).read_text()) for name in lines if name != "s.parquet"}
    (bench,), (profile,) = read["b.json"]["results"], read["p.json"]["results"]
    documents = (bench, profile, read["d.json"], read["c.json"], read["s.json"])
    for document in documents:
        assert document["anchor"] == anchor
        assert document["anchor_classes"] == bench["anchor_classes"]
        assert document["anchor_error"] == bench["anchor_error"]
    assert bench["as_simulated"] == profile["as_simulated"] == []
    us = bench["total_inference_us"]
    assert profile["total_inference_us"] == us
    assert read["d.json"]["choices"][0]["total_inference_us"] == us
    assert read["s.json"]["front"][0]["latency_ms"] == pytest.approx(us / 1e3)
    hexsim.save(hexsim.quantize(hexsim.load("m.onnx"), [np.zeros((1, 16, 32, 32))]), "m.dlc")
    assert hexsim.simulate("m.dlc", "sd8gen3", "htp", anchor=anchor).total_us == us
    factors = {
        factor_row["layer_class"]: factor_row["factor"] for factor_row in bench["anchor_classes"]
    }
    pairs = {pair["class"]: pair for pair in read["c.json"]["layers"]}
    assert pairs["convolutional"]["ratio"] == pytest.approx(1.0, rel=0.3)
    for name in ("b.json", "p.json", "d.json", "s.json"):
        assert f"convolutional x{figure(factors['convolutional'])} (off by" in results[name].out


def test_the_profile_of_an_anchor_is_no_file_to_write(command: Command) -> None:
    done = command("bench m.onnx --chip sd8gen3 --anchor m.onnx=hub.json --json hub.json")
    assert done.code == 2
    assert "hub.json" in done.err
