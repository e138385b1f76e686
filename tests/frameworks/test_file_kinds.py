"""Files of other programs are told by their first bytes."""

import io
import zipfile
from pathlib import Path

import pytest

from hexsim.errors import HexsimError
from hexsim.frameworks.file_kinds import file_kind
from hexsim.onnx_io.source import open_source


def _archive(*names: str) -> bytes:
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w") as archive:
        for name in names:
            archive.writestr(name, b"0")
    return held.getvalue()


TENSORFLOW = b"\x0a\x1c\x0a\x05input\x12\x0bPlaceholder\x2a\x06ignore"
FILES = {
    b"\x1c\0\0\0TFL3" + bytes(20): "TensorFlow Lite",
    _archive("model/data.pkl", "model/version"): "a PyTorch file",
    _archive("model", "model.params", "dlc.metadata"): r"ending \.dlc",
    _archive("a.npy"): "NumPy arrays",
    _archive("a.txt"): "a ZIP archive",
    TENSORFLOW: "a TensorFlow graph",
    b"\x08\x01\x12\x05abcde": "a TensorFlow SavedModel",
    b"\x0a\x07alexnet\x12\x03abc": "the weights of Caffe",
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
