"""Data of tensors: as many as the shape says, and in the folder of the model.

A file of halves is a file of singles, wherever it says half.
"""

import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from hexsim.errors import HexsimError
from hexsim.graph.ir import Network
from hexsim.layers import Opaque
from hexsim.onnx_io.file.stored_tensors import (
    array_of,
    dtype_name,
    external_file,
    read_external,
    require_data,
)
from hexsim.onnx_io.float_engine import FloatEngine
from hexsim.onnx_io.read.reader import read, read_with_codes
from hexsim.passes import optimize


def _tensor(size: int = 3) -> TensorProto:
    return numpy_helper.from_array(np.arange(size, dtype=np.float32), "w")


def _external(location: str, **entries: str) -> TensorProto:
    tensor = _tensor()
    tensor.ClearField("raw_data")
    tensor.data_location = TensorProto.EXTERNAL
    for key, value in {"location": location, **entries}.items():
        tensor.external_data.add(key=key, value=value)
    return tensor


def test_raw_data_unlike_the_shape() -> None:
    tensor = _tensor()
    require_data(tensor, "w")
    tensor.dims[:] = [2, 2]
    with pytest.raises(HexsimError, match=r"'w' holds 12 bytes, and its shape \[2, 2\] of FLOAT"):
        require_data(tensor, "w")
    tensor.dims[:] = [-3]
    with pytest.raises(HexsimError, match=r"shape \[-3\], which no array has"):
        require_data(tensor, "w")


def test_lists_of_numbers_unlike_the_shape() -> None:
    tensor = helper.make_tensor("w", TensorProto.INT64, [3], [1, 2, 3])
    require_data(tensor, "w")
    tensor.int64_data.append(4)
    with pytest.raises(HexsimError, match="holds 4 numbers"):
        require_data(tensor, "w")


@pytest.mark.parametrize("kind", [TensorProto.INT4, TensorProto.UINT4, TensorProto.BOOL])
def test_packed_numbers(kind: int) -> None:
    tensor = helper.make_tensor("w", kind, [3], [1, 0, 1])
    require_data(tensor, "w")
    assert array_of(tensor, "w").astype(int).tolist() == [1, 0, 1]


@pytest.mark.parametrize(
    ("kind", "words"),
    [(0, "holds no numbers"), (8, "holds no numbers"), (14, "complex"), (99, "element type 99")],
)
def test_types_that_are_no_real_numbers(kind: int, words: str) -> None:
    with pytest.raises(HexsimError, match=words):
        dtype_name(kind, "w")


@pytest.mark.parametrize("location", ["../w", "/etc/passwd", "a/../../w", "a\0b"])
def test_data_elsewhere_are_not_read(location: str, tmp_path: Path) -> None:
    with pytest.raises(HexsimError, match="which is not in its folder"):
        external_file(_external(location), "w", tmp_path / "m.onnx", "'m'")


@pytest.mark.parametrize(
    ("entries", "words"),
    [
        ({"offset": "-4"}, "offset or length is wrong"),
        ({"offset": "x"}, "offset or length is wrong"),
        ({"length": "8"}, "offset or length is wrong; its shape needs 12 bytes"),
        ({"offset": "8"}, "it needs 20 bytes, and the file has 16"),
    ],
)
def test_data_that_are_not_there(entries: dict[str, str], words: str, tmp_path: Path) -> None:
    (tmp_path / "w").write_bytes(bytes(16))
    with pytest.raises(HexsimError, match=words):
        external_file(_external("w", **entries), "w", tmp_path / "m.onnx", "'m'")


def test_data_beside_the_model(tmp_path: Path) -> None:
    (tmp_path / "w").write_bytes(np.arange(4, dtype=np.float32).tobytes())
    tensor = _external("w", offset="4", length="12")
    path = external_file(tensor, "w", tmp_path / "m.onnx", "'m'")
    assert read_external(tensor, "w", path).tolist() == [1, 2, 3]


def test_a_link_does_not_lead_out_of_the_folder(tmp_path: Path) -> None:
    model = tmp_path / "models/m.onnx"
    (model.parent / "inner").mkdir(parents=True)
    (tmp_path / "secret").write_bytes(bytes(12))
    (model.parent / "inner/own").write_bytes(bytes(12))
    (model.parent / "w").symlink_to("../secret")
    (model.parent / "folder").symlink_to("..")
    (model.parent / "near").symlink_to("inner/own")
    for location in ("w", "folder/secret"):
        words = f"'{location}', a symbolic link to '{tmp_path.resolve()}/secret', which is not in"
        with pytest.raises(HexsimError, match=re.escape(words)):
            external_file(_external(location), "w", model, "'m'")
    assert external_file(_external("near"), "w", model, "'m'") == model.parent / "near"


def test_a_cache_may_link_the_model_and_its_weights_to_files_that_lie_together(
    tmp_path: Path,
) -> None:
    blobs, snapshot = tmp_path / "blobs", tmp_path / "snapshots/1"
    blobs.mkdir()
    snapshot.mkdir(parents=True)
    for name in ("m.onnx", "w"):
        (blobs / f"hash of {name}").write_bytes(bytes(12))
        (snapshot / name).symlink_to(f"../../blobs/hash of {name}")
    path = external_file(_external("w"), "w", snapshot / "m.onnx", "'m'")
    assert read_external(_external("w"), "w", path).tolist() == [0, 0, 0]


Make = Callable[..., onnx.ModelProto]
node = helper.make_node
HALF, BFLOAT, FLOAT = (
    onnx.TensorProto.FLOAT16,
    onnx.TensorProto.BFLOAT16,
    onnx.TensorProto.FLOAT,
)


def _in_halves(model: onnx.ModelProto, half: int = HALF) -> onnx.ModelProto:
    for value in (*model.graph.input, *model.graph.output):
        value.type.tensor_type.elem_type = half
    for tensor in model.graph.initializer:
        if tensor.data_type == FLOAT:
            array = numpy_helper.to_array(tensor)
            tensor.CopyFrom(helper.make_tensor(tensor.name, half, array.shape, array.ravel()))
    return model


def _run(network: Network, x: np.ndarray) -> np.ndarray:
    stored = network.tensors["x"].from_source(x)
    result = FloatEngine(network).run({"x": stored})["y"]  # type: ignore[dict-item]
    return network.tensors["y"].to_source(result)


@pytest.mark.parametrize("half", [HALF, BFLOAT])
def test_a_network_of_halves_is_one_of_singles(half: int, onnx_model: Make) -> None:
    weights = {"w": np.full((2, 3, 1, 1), 0.5), "top": 1.0}
    nodes = [
        node("Conv", ["x", "w"], ["a"]),
        node("Cast", ["a"], ["b"], to=half),
        node("Clip", ["b", "", "top"], ["y"]),
    ]
    model = _in_halves(onnx_model(nodes, {"x": (1, 3, 4, 4)}, ["y"], weights), half)
    network = optimize(read(model))
    assert {tensor.dtype for tensor in network.tensors.values()} == {"float32"}
    assert len(network.layers) == 1
    x = np.linspace(-1, 1, 48, dtype=np.float32).reshape(1, 3, 4, 4)
    expected = np.minimum(x.sum(1, keepdims=True) / 2, 1).repeat(2, 1)
    np.testing.assert_allclose(_run(network, x), expected, rtol=1e-6)


def test_constants_of_halves_in_nodes_and_branches(onnx_model: Make) -> None:
    two = numpy_helper.from_array(np.array([2], np.float16))
    half_of = helper.make_tensor("half", HALF, [], [0.5])
    branch = helper.make_graph(
        [node("Mul", ["t", "half"], ["o"])],
        "branch",
        [],
        [helper.make_tensor_value_info("o", HALF, None)],
        [half_of],
    )
    other = helper.make_graph(
        [node("Identity", ["t"], ["o2"])],
        "other",
        [],
        [helper.make_tensor_value_info("o2", HALF, None)],
    )
    nodes = [
        node("ConstantOfShape", ["one"], ["c"], value=two),
        node("Mul", ["x", "c"], ["t"]),
        node("ReduceSum", ["t"], ["sum"], keepdims=0),
        node("Cast", ["sum"], ["holds"], to=onnx.TensorProto.BOOL),
        node("If", ["holds"], ["y"], then_branch=branch, else_branch=other),
    ]
    model = _in_halves(onnx_model(nodes, {"x": (1, 4)}, ["y"], {"one": [1]}, 13))
    network = optimize(read(model))
    assert any(isinstance(layer, Opaque) and layer.op_type == "If" for layer in network.layers)
    x = np.arange(4, dtype=np.float32).reshape(1, 4)
    np.testing.assert_array_equal(_run(network, x), x)


def test_the_report_says_so(onnx_model: Make) -> None:
    model = onnx_model([node("Relu", ["x"], ["y"])], {"x": (1, 4)}, ["y"])
    assert not read_with_codes(model).report.notes
    assert "16-bit floats" in read_with_codes(_in_halves(model)).report.notes[0]
