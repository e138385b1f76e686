"""Converts TensorFlow Lite files, graphs, SavedModels and Keras files by tf2onnx.

A graph is frozen, or belongs to a checkpoint (.meta) with its variables in files beside it.

tf2onnx turns the ranges of a quantised .tflite file, and FakeQuant nodes of a graph, into nodes
that quantise, whose encodings `hexsim.onnx_io` reads. Tensors keep their names, such as `image:0`.
"""

from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from hexsim.errors import HexsimError, spelled
from hexsim.frameworks.archives import is_hdf5_alone
from hexsim.frameworks.exporters import Exporter
from hexsim.frameworks.foreign import Dims, Foreign
from hexsim.frameworks.real_ends import with_real_ends

OPSET = 13
_DEFAULT_SIGNATURE = b"\x0a\x0fserving_default\x12"
"""The beginning of the entry with this key in the map of signatures."""
_TABLE_OF_FILE = b"InitializeTableFromTextFile"
"""The operator whose table tf2onnx puts into the network; it may name any file."""
_MODULES = ("tf2onnx", "tensorflow")
_ALL_MODULES = (*_MODULES, "keras", "h5py")
_COMMAND = ("-m", "tf2onnx.convert", "--opset", str(OPSET))
TFLITE = Exporter("tf2onnx", "tflite", _MODULES, _COMMAND)
TENSORFLOW = Exporter("tf2onnx", "tensorflow", _ALL_MODULES, _COMMAND)
_FLOORS = (("keras", "3.12"),)
"""In earlier versions a file could run code in safe mode (CVE-2025-9905 for HDF5, and others)."""
_KERAS_FILE = str(Path(__file__).parent / "_keras_file.py")
KERAS = Exporter("Keras with tf2onnx", "tensorflow", _ALL_MODULES, (_KERAS_FILE,), _FLOORS)


def read_tflite(path: Path, dims: Dims, output_names: Sequence[str]) -> Foreign:
    """Read a .tflite file; the reader of ONNX applies `dims` and `output_names`."""
    TFLITE.require(path, "a TensorFlow Lite model")
    model = TFLITE.run(path, ["--tflite", str(path.absolute())], "--output")
    return Foreign(with_real_ends(model), input_dims=dims, output_names=output_names)


def read_saved_model(path: Path, dims: Dims, output_names: Sequence[str]) -> Foreign:
    """Read the folder of a SavedModel: the graph with the tag `serve` and the default signature.

    If there is no default signature, the first one is read.
    """
    TENSORFLOW.require(path, "a TensorFlow SavedModel")
    words = ["--saved-model", str(path.absolute())]
    description = (path / "saved_model.pb").read_bytes()
    if _TABLE_OF_FILE in description:
        raise HexsimError(
            f"'{path}' has a table of words that are in another file, which is not read; save the "
            "network without it"
        )
    if _DEFAULT_SIGNATURE in description:
        words += ["--signature_def", "serving_default"]
    model = TENSORFLOW.run(path, words, "--output")
    return Foreign(model, input_dims=dims, output_names=output_names)


def read_keras(path: Path, dims: Dims, output_names: Sequence[str]) -> Foreign:
    """Read a Keras file, in its own format or HDF5; a file with Python code is refused."""
    ending = ".h5" if is_hdf5_alone(path) else ".keras"
    KERAS.require(path, "a Keras model")
    with TemporaryDirectory(prefix="hexsim-") as folder:
        source = Path(folder) / f"model{ending}"  # Keras chooses the format by the ending
        source.symlink_to(path.resolve())
        model = KERAS.run(path, [str(source), str(OPSET)], "")
    return Foreign(model, input_dims=dims, output_names=output_names)


def read_frozen(path: Path, dims: Dims, output_names: Sequence[str]) -> Foreign:
    """Read a frozen graph, with the inputs of `dims` and the outputs `output_names`."""
    return _read_graph(path, "a TensorFlow graph", "--graphdef", dims, output_names)


def read_checkpoint(path: Path, dims: Dims, output_names: Sequence[str]) -> Foreign:
    """Read a graph (.meta) with the variables in files beside it; else as `read_frozen`."""
    kind = "the graph of a TensorFlow checkpoint"
    if path.suffix != ".meta" or not path.with_suffix(".index").is_file():
        name = f"{path.stem}.meta, {path.stem}.index and {path.stem}.data-00000-of-00001"
        raise HexsimError(f"'{path}' is {kind} without its variables; it needs the files {name}")
    return _read_graph(path, kind, "--checkpoint", dims, output_names)


def _read_graph(
    path: Path, kind: str, option: str, dims: Dims, output_names: Sequence[str]
) -> Foreign:
    if not dims or not output_names:
        raise HexsimError(
            f"'{path}' is {kind}, which does not say where it begins and ends; give "
            f"its inputs with {spelled('input_dims', {'NAME': (1, 224, 224, 3)})}, and its outputs "
            f"with {spelled('output_names', 'NAME')}"
        )
    inputs = [f"{_port(name)}[{','.join(map(str, dims[name]))}]" for name in dims]
    outputs = [_port(name) for name in output_names]
    for name in (*dims, *output_names):
        if not set(name).isdisjoint(",[]"):
            raise HexsimError(f"'{name}' is not the name of a TensorFlow tensor")
    TENSORFLOW.require(path, kind)
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
    """Return the name of a tensor; an operation alone stands for its first output."""
    return name if ":" in name else f"{name}:0"
