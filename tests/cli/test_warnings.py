"""Warnings of libraries are not printed, and decide nothing where Python makes them errors."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper, save

import hexsim
from benchmarks.conformity_commands import run

_NODES = {
    "Mul": ((3e38,), (3e38,)),
    "Div": ((1.0,), (0.0,)),
    "Sqrt": ((-1.0,),),
    "Exp": ((1000.0,),),
    "Log": ((0.0,),),
    "Pow": ((1e30,), (7.0,)),
}
"""Constants whose result is infinite or none, by operator."""


def _overflowing(operator: str, path: Path) -> None:
    """Write the network of y = x + c, in which a node computes c from constants."""
    constants = _NODES[operator]
    names = [f"c{number}" for number in range(len(constants))]
    nodes = [
        helper.make_node(operator, names, ["c"]),
        helper.make_node("Add", ["x", "c"], ["y"]),
    ]
    arrays = [
        numpy_helper.from_array(np.array(values, np.float32), name)
        for name, values in zip(names, constants, strict=True)
    ]
    ends = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, 4]) for name in "xy"]
    graph = helper.make_graph(nodes, "g", ends[:1], ends[1:], arrays)
    save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)


@pytest.mark.parametrize("operator", _NODES)
@pytest.mark.parametrize("line", ["info m.onnx", "convert m.onnx -o m.dlc"])
def test_warnings_decide_nothing(
    operator: str, line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    _overflowing(operator, tmp_path / "m.onnx")
    ends = []
    for action in ("error", "always"):
        with warnings.catch_warnings(record=action == "always") as heard:
            warnings.simplefilter(action)
            ends.append(run(line))
        assert not heard
    assert ends[0] == ends[1]
    assert ends[0][0] != "failed"


@pytest.mark.parametrize("operator", _NODES)
def test_a_library_call_gives_the_same_answer(operator: str, tmp_path: Path) -> None:
    _overflowing(operator, tmp_path / "m.onnx")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = hexsim.load(tmp_path / "m.onnx")
        feed = {"x": np.ones((1, 4), np.float32)}
        outputs = hexsim.simulate(model, runtime="cpu", inputs=feed, chip="sd835").outputs
    assert outputs is not None
    assert not np.isfinite(outputs["y"]).any()
