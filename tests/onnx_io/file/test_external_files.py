"""The files beside an ONNX file that it keeps weights in."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import onnx
from onnx import helper, numpy_helper

from hexsim.onnx_io.file.external_files import external_files


def _outside(name: str, location: str) -> onnx.TensorProto:
    tensor = numpy_helper.from_array(np.zeros(4, np.float32), name)
    tensor.ClearField("raw_data")
    tensor.data_location = onnx.TensorProto.EXTERNAL
    tensor.external_data.add(key="location", value=location)
    return tensor


def test_weights_constants_and_those_of_branches(tmp_path: Path) -> None:
    constant = helper.make_node("Constant", [], ["c"], value=_outside("c", "constant.bin"))
    branch = helper.make_graph([constant], "branch", [], [], [_outside("b", "branch.bin")])
    node = helper.make_node("If", ["x"], ["y"], then_branch=branch, else_branch=branch)
    graph = helper.make_graph([node], "g", [], [], [_outside("w", "in/weights.bin")])
    (tmp_path / "m.onnx").write_bytes(helper.make_model(graph).SerializeToString())
    files = external_files(tmp_path / "m.onnx")
    names = ("branch.bin", "constant.bin", "in/weights.bin")
    assert files == tuple(tmp_path / name for name in names)


def test_what_names_none(tmp_path: Path) -> None:
    graph = helper.make_graph([], "g", [], [], [numpy_helper.from_array(np.zeros(4), "w")])
    (tmp_path / "m.onnx").write_bytes(helper.make_model(graph).SerializeToString())
    (tmp_path / "empty.onnx").touch()
    (tmp_path / "text.onnx").write_text("its location is not told")
    os.mkfifo(tmp_path / "pipe.onnx")
    for name in ("m", "empty", "text", "pipe", "none"):
        assert external_files(tmp_path / f"{name}.onnx") == ()
    assert external_files(tmp_path) == ()
