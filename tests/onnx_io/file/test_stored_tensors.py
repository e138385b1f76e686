"""Data of tensors: as many as the shape says, and in the folder of the model."""

import re
from pathlib import Path

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper

from hexsim.errors import HexsimError
from hexsim.onnx_io.file.stored_tensors import (
    array_of,
    dtype_name,
    external_file,
    read_external,
    require_data,
)


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
