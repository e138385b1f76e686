"""What encodings lose is the same list through the API, a file, and the commands."""

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

import hexsim
from tests.cli.conftest import Done

Command = Callable[[str], Done]

SURVIVORS = (
    "of 50 values of 'scores' whose codes are not zero on the first calibration input, 4 survive "
    "in 'joined' of layer 'joining': they reach 8, and a step of 'joined' is 4; convert with the "
    "tensors before it as outputs (--out-name), or quantise with --act-bitwidth 16"
)
"""46 scores of 1, a quarter of a step, and 4 of 8; boxes of 1020 = 255 * 4."""
DEAD = (
    "2 of 4 output channels of layer 'dense' are dead, all their codes in weight 'w' stand for "
    "zero: in floats, weights of 1 of these reach 0.003; quantise with --axis-quant"
)
"""Weights of -1 to 1 have steps of 0.0078; channels reach 1, 0.003, 0 and 1."""


def _network() -> onnx.ModelProto:
    weight = np.zeros((50, 4), np.float32)
    weight[:3] = [[1, 0.003, 0, -1], [-1, 0.003, 0, 1], [1, 0, 0, 1]]
    ends = [
        helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, 50])
        for name in ("boxes", "scores")
    ]
    outputs = [
        helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in ("joined", "y")
    ]
    nodes = [
        helper.make_node("Concat", ["boxes", "scores"], ["joined"], name="joining", axis=1),
        helper.make_node("Gemm", ["scores", "w"], ["y"], name="dense"),
    ]
    constant = helper.make_tensor("w", TensorProto.FLOAT, [50, 4], weight.ravel())
    graph = helper.make_graph(nodes, "net", ends, outputs, [constant])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)


@pytest.fixture(autouse=True)
def feed(tmp_path: Path) -> dict[str, np.ndarray]:
    """float.dlc, and list.txt with an input for it, which is returned."""
    feed = {
        "boxes": np.full((1, 50), 1020, np.float32),
        "scores": np.array([[1.0] * 46 + [8.0] * 4], np.float32),
    }
    hexsim.save(hexsim.load(_network()), tmp_path / "float.dlc")
    for name, array in feed.items():
        array.tofile(tmp_path / f"{name}.raw")
    (tmp_path / "list.txt").write_text("boxes:=boxes.raw scores:=scores.raw\n")
    return feed


def test_every_door_tells_the_same(
    command: Command, tool: Command, feed: dict[str, np.ndarray]
) -> None:
    findings = hexsim.quantize(hexsim.load("float.dlc"), [feed]).findings
    assert [finding.sentence for finding in findings] == [SURVIVORS, DEAD]

    done = command("quantize float.dlc --input-list list.txt -o q.dlc --encodings-report r.json")
    assert _warnings(done) == [f"warning: {SURVIVORS}", f"warning: {DEAD}"]
    assert hexsim.load("q.dlc").findings == findings
    report = json.loads(Path("r.json").read_text())["findings"]
    assert [finding["sentence"] for finding in report] == [SURVIVORS, DEAD]

    for model in ("q.dlc", "float.dlc"):
        options = "--input-list list.txt --json v.json --html v.html"
        assert _warnings(command(f"validate {model} {options}")) == _warnings(done)
        assert json.loads(Path("v.json").read_text())["findings"] == report
        assert "Values that the encodings lose for certain" in Path("v.html").read_text()

    theirs = tool(
        "snpe-dlc-quantize --input_dlc float.dlc --input_list list.txt --output_dlc s.dlc"
    )
    spelled = {"--out-name": "--out_node", "--act-bitwidth": "--act_bitwidth"}
    spelled["--axis-quant"] = "--axis_quant"
    lines = _warnings(done)
    for ours, other in spelled.items():
        lines = [line.replace(ours, other) for line in lines]
    assert _warnings(theirs, "[WARNING] ") == [
        line.replace("warning: ", "[WARNING] ", 1) for line in lines
    ]
    assert hexsim.load("s.dlc").findings == findings


def _warnings(done: Done, level: str = "warning: ") -> list[str]:
    assert done.code == 0, done.err
    return [line for line in done.err.splitlines() if line.startswith(level)]
