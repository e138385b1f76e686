"""Files of TensorFlow: TensorFlow Lite, frozen graphs and SavedModels, through tf2onnx.

Stored ranges of a quantised .tflite file, and FakeQuant nodes of a graph, come as nodes that
quantise, whose encodings `hexsim.onnx_io` takes. Tensors keep their names, such as `image:0`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from hexsim.errors import HexsimError
from hexsim.frameworks.exporters import Exporter
from hexsim.frameworks.foreign import Foreign
from hexsim.frameworks.real_ends import with_real_ends

OPSET = 13
_MODULES = ("tf2onnx", "tensorflow")
_COMMAND = ("-m", "tf2onnx.convert", "--opset", str(OPSET))
TFLITE = Exporter("tf2onnx", "tflite", _MODULES, _COMMAND)
TENSORFLOW = Exporter("tf2onnx", "tensorflow", _MODULES, _COMMAND)


def read_tflite(path: Path, dims: Mapping[str, Sequence[int]], ends: Sequence[str]) -> Foreign:
    """Read a .tflite file; `dims` and `ends` are left to the reader of ONNX."""
    TFLITE.require(path, "a TensorFlow Lite model")
    model = TFLITE.run(path, ["--tflite", str(path)], "--output")
    return Foreign(with_real_ends(model), input_dims=dims, output_names=ends)


def read_saved_model(path: Path, dims: Mapping[str, Sequence[int]], ends: Sequence[str]) -> Foreign:
    """Read the folder of a SavedModel: its tag `serve`, and its first signature."""
    TENSORFLOW.require(path, "a TensorFlow SavedModel")
    model = TENSORFLOW.run(path, ["--saved-model", str(path)], "--output")
    return Foreign(model, input_dims=dims, output_names=ends)


def read_frozen(path: Path, dims: Mapping[str, Sequence[int]], ends: Sequence[str]) -> Foreign:
    """Read a frozen graph, whose inputs are those of `dims`, and whose outputs are `ends`."""
    if not dims or not ends:
        raise HexsimError(
            f"'{path}' is a TensorFlow graph, which does not say where it begins and ends; give "
            "its inputs with --input-dim NAME 1,224,224,3, and its outputs with --out-name NAME"
        )
    inputs = [f"{_port(name)}[{','.join(map(str, dims[name]))}]" for name in dims]
    outputs = [_port(name) for name in ends]
    for name in (*dims, *ends):
        if not set(name).isdisjoint(",[]"):
            raise HexsimError(f"'{name}' is no name of a tensor of TensorFlow")
    TENSORFLOW.require(path, "a TensorFlow graph")
    words = ["--graphdef", str(path), "--inputs", ",".join(inputs), "--outputs", ",".join(outputs)]
    return Foreign(TENSORFLOW.run(path, words, "--output"))


def _port(name: str) -> str:
    """The name of a tensor: an operation's first output, unless the name says which."""
    return name if ":" in name else f"{name}:0"
