"""Weights that lie elsewhere: beside the file, or with the caller."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import helper

from hexsim.errors import HexsimError
from hexsim.onnx_io.read.reader import read


@pytest.fixture
def model(onnx_model: Callable[..., onnx.ModelProto]) -> onnx.ModelProto:
    node = helper.make_node("MatMul", ["x", "w"], ["y"])
    weight = np.arange(600.0).reshape(20, 30)
    return onnx_model([node], {"x": (1, 20)}, ["y"], {"w": weight})


def test_weights_in_a_file_beside_the_model(model: onnx.ModelProto, tmp_path: Path) -> None:
    path = tmp_path / "m.onnx"
    onnx.save(model, path, save_as_external_data=True, location="w.bin", size_threshold=0)
    network = read(path)
    expected = np.arange(600.0).reshape(20, 30)
    assert np.array_equal(network.constants["w"].value(), expected)
    (tmp_path / "w.bin").write_bytes(b"short")
    with pytest.raises(HexsimError, match="cannot read weight tensor 'w'"):
        read(path).constants["w"].value()
    (tmp_path / "w.bin").unlink()
    with pytest.raises(HexsimError, match=r"in the file 'w\.bin', which is not beside it"):
        read(path)


def test_weights_that_the_caller_makes(model: onnx.ModelProto) -> None:
    tensor = model.graph.initializer[0]
    tensor.ClearField("raw_data")
    tensor.data_location = onnx.TensorProto.EXTERNAL
    tensor.external_data.add(key="location", value="hexsim.models")
    calls = []

    def make() -> np.ndarray:
        calls.append(1)
        return np.ones((20, 30), np.float32)

    network = read(model, weights={"w": make})
    assert network.total_parameters == 600
    assert not calls
    assert network.constants["w"].value().sum() == 600
    with pytest.raises(HexsimError, match="load the network by its name"):
        read(model)
    with pytest.raises(HexsimError, match=r"'w' has shape \[3\], the graph says \[20, 30\]"):
        read(model, weights={"w": lambda: np.ones(3, np.float32)}).constants["w"].value()
