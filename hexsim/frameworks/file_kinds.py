"""Recognises the format of a file by its bytes, and says what to do with one that is not read.

Except for .dlc files, which have their ending, formats are recognised only here.
"""

import re
import zipfile
from io import BytesIO
from pathlib import Path
from typing import Literal

from hexsim.errors import spelled
from hexsim.frameworks.archives import HDF5, hdf5_starts
from hexsim.records import dataclass

Framework = Literal[
    "caffe",
    "checkpoint",
    "keras",
    "savedmodel",
    "tensorflow",
    "tflite",
    "torch program",
    "torch script",
]

_ZIP = b"PK\x03\x04"
_HEAD = 1 << 16
"""Bytes at the beginning of a file from which its format is recognised."""


@dataclass(frozen=True)
class FileKind:
    """What a file is and what to do with it; `framework` chooses the reader, if not None."""

    what: str
    remedy: str
    framework: Framework | None = None

    def __str__(self) -> str:
        """What and remedy, as the end of a sentence."""
        return f"{self.what}; {self.remedy}"


_ITSELF = "load it with hexsim.load"
_DLC = FileKind("a model of hexsim or SNPE", "name it with the ending .dlc")
_PROTOTXT = FileKind("a text description of a network, as Caffe has", _ITSELF, "caffe")
_PAGE = FileKind("a web page", "download the model itself")
_PICKLE = FileKind(
    "a Python pickle, as PyTorch writes, and to read it is to run what it holds",
    "save the network with torch.export.save",
)
_HDF5 = FileKind("a Keras model (HDF5)", _ITSELF, "keras")
_XML = FileKind("an XML file", "OpenVINO's hold no network by themselves, give the ONNX file")
_KINDS: tuple[tuple[int, bytes, FileKind], ...] = (
    (4, b"TFL3", FileKind("a TensorFlow Lite model", _ITSELF, "tflite")),
    (0, b"GGUF", FileKind("a GGUF model", "export the network it was made of to ONNX")),
    (0, b"\x80\x02", _PICKLE),
    (0, b"\x80\x04", FileKind("a Python pickle", "export the model in it to ONNX")),
    (0, b"\x93NUMPY", FileKind("a NumPy array", "give the network itself")),
    (0, b"\x08\x01\x12", FileKind("a part of a TensorFlow SavedModel", "give its folder")),
    (0, b"\x1f\x8b", FileKind("compressed by gzip", "unpack it first")),
    (0, b"\x7fELF", FileKind("a program", "give an ONNX file")),
    (0, b"<?xml", _XML),
    (0, b"<net", FileKind("a network of OpenVINO", "give the ONNX file that it was made of")),
    (0, b"<!DOCTYPE", _PAGE),
    (0, b"<html", _PAGE),
    (
        0,
        b"version https://git-lfs",
        FileKind("a pointer of Git LFS", "fetch the file itself (git lfs pull)"),
    ),
    (
        8,
        b'{"',
        FileKind("a safetensors file, which holds weights only", "export the network to ONNX"),
    ),
    (0, b"{", FileKind("a JSON file", "give the ONNX file")),
)
"""Offset in the file, bytes at that offset, and the format."""

_VARINT = re.compile(rb"[\x80-\xff]{0,9}[\0-\x7f]")
"""A length in protobuf: seven bits in each byte, the lowest first."""
_OPERATORS = re.compile(rb"\x12[\x80-\xff]*[\0-\x7f]\x0a[\x80-\xff]*[\0-\x7f]\x0a")
"""The beginning of the graph of a checkpoint: a list of the names of its operators."""
_BLANK = re.compile(rb"\xef\xbb\xbf|\s+|#[^\n]*\n")
_FIRST = re.compile(
    rb"""(?:name|input|input_dim|force_backward|debug_info)\s*+:\s*+["'\w]"""
    rb"""|(?:layers?|input_shape|state)\s*+(?::\s*+)?+[{<]"""
)


def file_kind(data: bytes) -> FileKind | None:
    """Return the format of a file that begins with `data`; None if unknown, as for ONNX."""
    if data.startswith(_ZIP):
        return _archive(BytesIO(data))
    if any(data.startswith(HDF5, start) for start in hdf5_starts(len(data))):
        return _HDF5
    for offset, magic, kind_of_magic in _KINDS:
        if data[offset : offset + len(magic)] == magic:
            return kind_of_magic
    if data[:1] == b"\x0a" and (kind := _graph(data)) is not None:
        return kind
    return _PROTOTXT if _is_prototxt(data) else None


def framework_of(path: Path) -> Framework | None:
    """Return the framework of the file or folder at `path`; None for ONNX and unknown formats."""
    if path.suffix.lower() == ".prototxt":
        return "caffe"
    try:
        if path.is_dir():
            return "savedmodel" if (path / "saved_model.pb").is_file() else None
        if not path.is_file():
            return None
        with path.open("rb") as file:
            head = file.read(_HEAD)
        kind = _archive(path) if head.startswith(_ZIP) else file_kind(head)
    except (OSError, ValueError):  # the reader of the file reports the error
        return None
    return kind.framework if kind else None


def _is_prototxt(data: bytes) -> bool:
    position = 0
    while (blank := _BLANK.match(data, position)) is not None:
        position = blank.end()
    return _FIRST.match(data, position) is not None


def _archive(file: Path | BytesIO) -> FileKind:
    try:
        with zipfile.ZipFile(file) as archive:
            names = archive.namelist()
    except (zipfile.BadZipFile, NotImplementedError):
        return FileKind("a damaged ZIP archive", "download or export it again")
    inner = {name.rpartition("/")[2] for name in names}
    if inner & {"model.params", "dlc.metadata"}:
        return _DLC
    if inner & {"archive_format", "serialized_exported_program.json"}:
        return FileKind("an exported program of PyTorch", _ITSELF, "torch program")
    if "constants.pkl" in inner and any("/code/" in name for name in names):
        return FileKind("a PyTorch file, a TorchScript module", _ITSELF, "torch script")
    if "data.pkl" in inner:
        return FileKind(f"a PyTorch file, {_PICKLE.what}", _PICKLE.remedy)
    if any(name.endswith(".npy") for name in inner):
        return FileKind("an archive of NumPy arrays", "give the network itself")
    if "model.weights.h5" in inner:
        return FileKind("a Keras model", _ITSELF, "keras")
    return FileKind("a ZIP archive", "unpack it first")


def _graph(data: bytes) -> FileKind | None:
    """Recognise messages whose first field is text or a message; in ONNX it is a number."""
    length = _VARINT.match(data, 1)
    if length is None:
        return None
    size = sum((byte & 0x7F) << 7 * index for index, byte in enumerate(length[0]))
    content = data[length.end() : length.end() + size]
    if content[:1] == b"\x0a" and b"\x12" in content:  # a node: its name, then its operator
        return FileKind("a TensorFlow graph", _ITSELF, "tensorflow")
    if _OPERATORS.match(content):
        return FileKind("the graph of a TensorFlow checkpoint", _ITSELF, "checkpoint")
    if content and content.isascii() and content.decode("ascii").isprintable():
        return FileKind(
            "no ONNX model, but perhaps the weights of Caffe",
            f"give the prototxt, and this file with {spelled('caffe_bin')}",
        )
    return None
