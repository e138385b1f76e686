"""The SQNR of the outputs is one figure, in bench, validate, sensitivity and decide."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

import hexsim
from hexsim import dlc
from hexsim.api.model import load
from hexsim.onnx_io.float_engine import FloatEngine
from tests.cli.conftest import Done
from tests.deployed import deployed

BATCH, ITEMS, CLASSES = 2, 3, 5


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A classifier in batches of two that ends with a softmax and with integers, and three items.

    The last batch is padded with an item that must not count.
    """
    rng = np.random.default_rng(3)
    nodes = [
        helper.make_node("Gemm", ["x", "w"], ["logits"], "dense", transB=1),
        helper.make_node("Softmax", ["logits"], ["prob"], "softmax", axis=1),
        helper.make_node("ArgMax", ["logits"], ["best"], "best", axis=1),
    ]
    weights = onnx.numpy_helper.from_array(rng.normal(size=(CLASSES, 8)).astype(np.float32), "w")
    graph = helper.make_graph(
        nodes,
        "net",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [BATCH, 8])],
        [
            helper.make_tensor_value_info("prob", TensorProto.FLOAT, [BATCH, CLASSES]),
            helper.make_tensor_value_info("best", TensorProto.INT64, [BATCH, 1]),
        ],
        [weights],
    )
    opset = [helper.make_opsetid("", 13)]
    onnx.save(helper.make_model(graph, opset_imports=opset, ir_version=8), tmp_path / "m.onnx")
    for index in range(ITEMS):
        rng.standard_normal(8, np.float32).tofile(tmp_path / f"{index}.raw")
    (tmp_path / "list.txt").write_text("".join(f"{index}.raw\n" for index in range(ITEMS)))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_equal_labels_agree(files: Path, command: Callable[[str], Done]) -> None:
    listed, where = "--input-list list.txt", "--chip sd855 --runtime dsp"
    calibrated, flatters = "--calibration-list list.txt", False
    for line in (
        f"quantize m.onnx {listed} --output q.dlc",
        f"bench --chip sd835 q.dlc {where} {listed} --json bench.json",
        f"validate --chip sd835 q.dlc {where} {listed} --json own_floats.json",
        "validate --chip sd835 "
        f"q.dlc --float m.onnx {where} {listed} --sensitivity --json validate.json",
        f"decide m.onnx --files --chips sd855 {listed} {calibrated} --json files.json",
        f"decide m.onnx --chips sd855 --runtime dsp --modes default {listed} {calibrated} "
        "--draws 0 --json decide.json",
    ):
        done = command(line)
        assert done.code == 0, done
        flatters |= "calibrated on inputs of this name, which flatters" in done.out
        is_own = "q.dlc" in line and "--float" not in line and "--output" not in line
        assert ("SQNR against the file's own weights" in done.out) is is_own
        assert ("SQNR of the outputs" in done.out) is ("--float" in line)
    assert flatters
    documents = {path.stem: json.loads(path.read_text()) for path in files.glob("*.json")}
    values = {
        "validate": documents["validate"]["output_sqnr_db"],
        "sensitivity": documents["validate"]["sensitivity"]["all_db"],
        "files": next(
            choice["sqnr_db"]
            for choice in documents["files"]["files"]
            if (choice["file"], choice["runtime"]) == ("quantised", "dsp")
        ),
        "decide": documents["decide"]["choices"][0]["sqnr_db"],
    }
    expected = _worked_out(files)
    assert values == pytest.approx(dict.fromkeys(values, expected), abs=1e-6)
    bench = documents["bench"]["results"][0]["accuracy"]
    own_floats = documents["own_floats"]["output_sqnr_db"]  # the weights of the file, dequantised
    assert bench["sqnr_db"] == pytest.approx(own_floats, abs=1e-6)
    assert bench["inputs"] == ITEMS
    assert bench["sqnr_reference"] == "the file's own weights"
    assert documents["own_floats"]["output_sqnr_reference"] == bench["sqnr_reference"]
    assert documents["validate"]["output_sqnr_reference"] == "float network"


def test_a_model_in_memory_is_compared_with_the_weights_it_was_quantised_from(files: Path) -> None:
    arrays = [np.fromfile(files / f"{n}.raw", np.float32).reshape(1, 8) for n in range(ITEMS)]
    batches = [np.concatenate(arrays[:2])]
    model = hexsim.quantize(hexsim.load(files / "m.onnx"), batches)
    dlc.write(files / "q.dlc", model)
    floats, own = (
        hexsim.benchmark(source, inputs=batches, chips="sd855", runtime="dsp").results[0].accuracy
        for source in (model, str(files / "q.dlc"))
    )
    assert floats is not None
    assert own is not None
    assert floats.sqnr_reference == "float network"
    assert own.sqnr_reference == "the file's own weights"
    assert floats.sqnr_db != pytest.approx(own.sqnr_db, abs=1e-3)


def test_a_split_is_the_same_in_one_command_and_in_several(
    files: Path, command: Callable[[str], Done]
) -> None:
    """Two of three items calibrate: the first batch; the third, padded, judges. So it is said."""
    listed, where = "--input-list list.txt --labels labels.txt", "--chip sd855 --runtime dsp"
    (files / "labels.txt").write_text("0\n1\n4\n")
    for line in (
        "quantize m.onnx --input-list list.txt --part calibrate --output q.dlc",
        "validate --chip sd835 "
        f"q.dlc --float m.onnx {where} {listed} --part judge --json parts.json",
        f"validate --chip sd835 m.onnx {where} {listed} --json validate.json",
        f"bench --chip sd835 m.onnx {where} {listed} --json bench.json",
        f"decide m.onnx --chips sd855 --runtime dsp --modes default {listed} --draws 0 "
        "--json decide.json",
        f"decide m.onnx --files --chips sd855 {listed} --json files.json",
    ):
        done = command(line)
        assert done.code == 0, done
        if "parts.json" not in line and "quantize" not in line:
            assert "2 inputs calibrate, 1 other judges" in done.out
        assert "flatters" not in done.out
    documents = {path.stem: json.loads(path.read_text()) for path in files.glob("*.json")}
    parts, bench = documents["parts"], documents["bench"]["results"][0]["accuracy"]
    (traded,) = (
        choice
        for choice in documents["files"]["files"]
        if (choice["file"], choice["runtime"]) == ("quantised", "dsp")
    )
    decibels = (
        documents["validate"]["output_sqnr_db"],
        bench["sqnr_db"],
        documents["decide"]["choices"][0]["sqnr_db"],
        traded["sqnr_db"],
    )
    assert decibels == pytest.approx((parts["output_sqnr_db"],) * len(decibels), abs=1e-6)
    assert (
        parts["hits"]["inputs"] == documents["validate"]["hits"]["inputs"] == bench["inputs"] == 1
    )
    assert parts["hits"] == documents["validate"]["hits"]


def _worked_out(files: Path) -> float:
    """The logits of three items: their power over that of the quantised ones' error."""
    x = np.stack([np.fromfile(files / f"{index}.raw", np.float32) for index in range(ITEMS)])
    padded = np.concatenate([x, x[-1:]])
    model = dlc.read(files / "q.dlc").model
    runtime = deployed(model, "dsp", "sd855").observing(["logits"]).executor()
    engine = FloatEngine(load(files / "m.onnx").network, outputs=["logits"])
    codes, floats = (
        np.concatenate([run({"x": padded[at : at + BATCH]})["logits"] for at in (0, BATCH)])[:ITEMS]
        for run in (runtime.run, engine.run)
    )
    noise = np.sum((floats.astype(np.float64) - codes) ** 2)
    return 10 * math.log10(np.sum(floats.astype(np.float64) ** 2) / noise)
