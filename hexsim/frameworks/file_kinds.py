"""Files that are no ONNX models, by the bytes they begin with: what they are, and what to do."""

from __future__ import annotations

_DLC = "a model of hexsim or SNPE; name it with the ending .dlc"
_KINDS: tuple[tuple[int, bytes, str], ...] = (
    (4, b"TFL3", "a TensorFlow Lite model; convert it with tf2onnx"),
    (0, b"\x89HDF\r\n", "a Keras model (HDF5); convert it with tf2onnx"),
    (0, b"GGUF", "a GGUF model; export the network it was made of to ONNX"),
    (0, b"\x80\x02", "a Python pickle, as PyTorch writes; export it with torch.onnx.export"),
    (0, b"\x80\x04", "a Python pickle; export the model in it to ONNX"),
    (0, b"\x93NUMPY", "a NumPy array; give the network itself"),
    (0, b"\x08\x01\x12", "a TensorFlow SavedModel; convert it with tf2onnx"),
    (0, b"\x1f\x8b", "compressed by gzip; unpack it first"),
    (0, b"\x7fELF", "a program; give an ONNX file"),
    (0, b"<?xml", "an XML file; OpenVINO's hold no network by themselves, give the ONNX file"),
    (0, b"<net", "a network of OpenVINO; give the ONNX file that it was made of"),
    (0, b"<!DOCTYPE", "a web page; download the model itself"),
    (0, b"<html", "a web page; download the model itself"),
    (0, b"version https://git-lfs", "a pointer of Git LFS; fetch the file itself (git lfs pull)"),
    (8, b'{"', "a safetensors file, which holds weights only; export the network to ONNX"),
    (0, b"{", "a JSON file; give the ONNX file"),
    (0, b"name:", "a text description of a network, as Caffe has; convert it to ONNX"),
    (0, b"layer {", "a text description of a network, as Caffe has; convert it to ONNX"),
)
"""Where in the file, which bytes, and what such a file is."""


def other_format(data: bytes) -> str | None:
    """Say what a file is whose first bytes are `data`, and what to do; None if nobody knows."""
    if data.startswith(b"PK\x03\x04"):
        return _archive(data)
    for offset, magic, kind in _KINDS:
        if data[offset : offset + len(magic)] == magic:
            return kind
    if data[:1] == b"\x0a":
        return _graph(data)
    return None


def _archive(data: bytes) -> str:
    if b"model.params" in data or b"dlc.metadata" in data:
        return _DLC
    if b"data.pkl" in data or b"constants.pkl" in data:
        return "a PyTorch file; export the network with torch.onnx.export"
    if b".npy" in data:
        return "an archive of NumPy arrays; give the network itself"
    if b"model.weights.h5" in data:
        return "a Keras model; convert it with tf2onnx"
    return "a ZIP archive; unpack it first"


def _graph(data: bytes) -> str | None:
    """Messages whose first field is text or a message, where ONNX has a number."""
    size = data[1] if len(data) > 1 else 0
    name = data[2 : 2 + size]
    if name[:1] == b"\x0a" and b"\x12" in name:  # a node: its name, then its operator
        return "a TensorFlow graph; convert it with tf2onnx"
    if name and name.isascii() and name.decode("ascii").isprintable():
        return "no ONNX model, but perhaps one of Caffe; convert it to ONNX"
    return None
