"""Files of TensorFlow: TensorFlow Lite, graphs, SavedModels and Keras files, through tf2onnx.

A graph is frozen, or that of a checkpoint (.meta), whose variables lie in files beside it.

Stored ranges of a quantised .tflite file, and FakeQuant nodes of a graph, come as nodes that
quantise, whose encodings `hexsim.onnx_io` takes. Tensors keep their names, such as `image:0`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from hexsim.errors import HexsimError
from hexsim.frameworks.archives import is_hdf5_alone
from hexsim.frameworks.exporters import Exporter
from hexsim.frameworks.foreign import Foreign
from hexsim.frameworks.real_ends import with_real_ends

OPSET = 13
_DEFAULT_SIGNATURE = b"\x0a\x0fserving_default\x12"
"""How an entry of protobuf's map of signatures begins, whose key is the name."""
_MODULES = ("tf2onnx", "tensorflow")
_ALL_MODULES = (*_MODULES, "keras", "h5py")
_COMMAND = ("-m", "tf2onnx.convert", "--opset", str(OPSET))
TFLITE = Exporter("tf2onnx", "tflite", _MODULES, _COMMAND)
TENSORFLOW = Exporter("tf2onnx", "tensorflow", _ALL_MODULES, _COMMAND)
_FLOORS = (("keras", "3.12"),)
"""Before, a file could run code in spite of the safe mode (CVE-2025-9905 for HDF5, and others)."""
_KERAS_FILE = str(Path(__file__).parent / "_keras_file.py")
KERAS = Exporter("Keras with tf2onnx", "tensorflow", _ALL_MODULES, (_KERAS_FILE,), _FLOORS)


def read_tflite(path: Path, dims: Mapping[str, Sequence[int]], ends: Sequence[str]) -> Foreign:
    """Read a .tflite file; `dims` and `ends` are left to the reader of ONNX."""
    TFLITE.require(path, "a TensorFlow Lite model")
    model = TFLITE.run(path, ["--tflite", str(path.absolute())], "--output")
    return Foreign(with_real_ends(model), input_dims=dims, output_names=ends)


def read_saved_model(path: Path, dims: Mapping[str, Sequence[int]], ends: Sequence[str]) -> Foreign:
    """Read the folder of a SavedModel: its tag `serve`, and its default signature.

    Without one of that name its first signature is taken.
    """
    TENSORFLOW.require(path, "a TensorFlow SavedModel")
    words = ["--saved-model", str(path.absolute())]
    if _DEFAULT_SIGNATURE in (path / "saved_model.pb").read_bytes():
        words += ["--signature_def", "serving_default"]
    model = TENSORFLOW.run(path, words, "--output")
    return Foreign(model, input_dims=dims, output_names=ends)


def read_keras(path: Path, dims: Mapping[str, Sequence[int]], ends: Sequence[str]) -> Foreign:
    """Read a file of Keras, in its own format or HDF5; what is Python code in it is refused."""
    ending = ".h5" if is_hdf5_alone(path) else ".keras"
    KERAS.require(path, "a Keras model")
    with TemporaryDirectory(prefix="hexsim-") as folder:
        source = Path(folder) / f"model{ending}"  # Keras goes by the ending
        source.symlink_to(path.resolve())
        model = KERAS.run(path, [str(source), str(OPSET)], "")
    return Foreign(model, input_dims=dims, output_names=ends)


def read_frozen(path: Path, dims: Mapping[str, Sequence[int]], ends: Sequence[str]) -> Foreign:
    """Read a frozen graph, whose inputs are those of `dims`, and whose outputs are `ends`."""
    return _read_graph(path, "a TensorFlow graph", "--graphdef", dims, ends)


def read_checkpoint(path: Path, dims: Mapping[str, Sequence[int]], ends: Sequence[str]) -> Foreign:
    """Read a graph (.meta) with its variables, which lie beside it; else like `read_frozen`."""
    what = "the graph of a TensorFlow checkpoint"
    if path.suffix != ".meta" or not path.with_suffix(".index").is_file():
        name = f"{path.stem}.meta, {path.stem}.index and {path.stem}.data-00000-of-00001"
        raise HexsimError(f"'{path}' is {what} without its variables; it needs the files {name}")
    return _read_graph(path, what, "--checkpoint", dims, ends)


def _read_graph(
    path: Path, what: str, option: str, dims: Mapping[str, Sequence[int]], ends: Sequence[str]
) -> Foreign:
    if not dims or not ends:
        raise HexsimError(
            f"'{path}' is {what}, which does not say where it begins and ends; give "
            "its inputs with --input-dim NAME 1,224,224,3, and its outputs with --out-name NAME"
        )
    inputs = [f"{_port(name)}[{','.join(map(str, dims[name]))}]" for name in dims]
    outputs = [_port(name) for name in ends]
    for name in (*dims, *ends):
        if not set(name).isdisjoint(",[]"):
            raise HexsimError(f"'{name}' is no name of a tensor of TensorFlow")
    TENSORFLOW.require(path, what)
    words = [
        option,
        str(path.absolute()),
        "--inputs",
        ",".join(inputs),
        "--outputs",
        ",".join(outputs),
    ]
    return Foreign(TENSORFLOW.run(path, words, "--output"))


def _port(name: str) -> str:
    """The name of a tensor: an operation's first output, unless the name says which."""
    return name if ":" in name else f"{name}:0"
