"""Files of other programs are told by their first bytes."""

import io
import zipfile
from pathlib import Path

import pytest

from hexsim.errors import HexsimError
from hexsim.frameworks.file_kinds import file_kind, framework_of
from hexsim.onnx_io.file.source import open_source


def _archive(*names: str) -> bytes:
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w") as archive:
        for name in names:
            archive.writestr(name, b"0")
    return held.getvalue()


TENSORFLOW = b"\x0a\x1c\x0a\x05input\x12\x0bPlaceholder\x2a\x06ignore"
LONG = b"\x0a\xc8\x01\x0a\x05input\x12\x0bPlaceholder" + bytes(200)
CHECKPOINT = b"\x0a\xb0\x0b\x12\x89\x0b\x0aD\x0a\x05AddV2\x12\x06" + bytes(200)
FILES = {
    b"\x1c\0\0\0TFL3" + bytes(20): "TensorFlow Lite",
    _archive("model/data.pkl", "model/version"): "a PyTorch file, a Python pickle",
    _archive("m/code/a.py", "m/constants.pkl", "m/data.pkl"): "a TorchScript module",
    _archive("m/archive_format", "m/models/model.json"): "an exported program of PyTorch",
    _archive("a.npy")[:-9]: "a damaged ZIP archive",
    _archive("model", "model.params", "dlc.metadata"): r"ending \.dlc",
    _archive("a.npy"): "NumPy arrays",
    _archive("a.txt"): "a ZIP archive",
    TENSORFLOW: "a TensorFlow graph",
    b"\x08\x01\x12\x05abcde": "a part of a TensorFlow SavedModel",
    b"\x0a\x07alexnet\x12\x03abc": "the weights of Caffe",
    CHECKPOINT: "the graph of a TensorFlow checkpoint",
    b'name: "AlexNet"\nlayer {': "Caffe",
    b"\x89HDF\r\n\x1a\n": "Keras",
    b"GGUF\x03": "GGUF",
    b'{"a": 1}': "JSON",
    b"<!DOCTYPE html>": "a web page",
    b"version https://git-lfs.github.com/spec/v1\n": "Git LFS",
    b'\x40\0\0\0\0\0\0\0{"w": 1': "safetensors",
}


@pytest.mark.parametrize(("content", "words"), FILES.items(), ids=FILES.values())
def test_a_file_is_named_for_what_it_is(content: bytes, words: str, tmp_path: Path) -> None:
    path = tmp_path / "m.onnx"
    path.write_bytes(content)
    with pytest.raises(HexsimError, match=rf"m\.onnx' is .*{words}"):
        open_source(path)


@pytest.mark.parametrize("content", [b"", b"\0" * 50, b"hello", b"\x0a"])
def test_nobody_knows_other_bytes(content: bytes) -> None:
    assert file_kind(content) is None


@pytest.mark.parametrize(
    ("content", "framework"),
    [
        (b"\x1c\0\0\0TFL3" + bytes(20), "tflite"),
        (TENSORFLOW, "tensorflow"),
        (LONG, "tensorflow"),
        (CHECKPOINT, "checkpoint"),
        (b"\x89HDF\r\n\x1a\n", "keras"),
        (_archive("config.json", "model.weights.h5"), "keras"),
        (b"\x0a" + b"\xff" * 20, None),
        (_archive("m/data/0", "m/code/a.py", "m/constants.pkl"), "torch script"),
        (_archive("m/data/0", "m/archive_format"), "torch program"),
        (b"# mine\n\nlayer { }", "caffe"),
        (b"\x08\x07\x12\x05torch", None),
        (b"", None),
    ],
)
def test_who_reads_a_file(content: bytes, framework: str | None, tmp_path: Path) -> None:
    path = tmp_path / "m"
    path.write_bytes(content)
    assert framework_of(path) == framework


def test_folders_and_names(tmp_path: Path) -> None:
    assert framework_of(tmp_path) is None
    (tmp_path / "saved_model.pb").write_bytes(b"")
    assert framework_of(tmp_path) == "savedmodel"
    assert framework_of(tmp_path / "none.prototxt") == "caffe"
    assert framework_of(tmp_path / "none") is None
