"""Converts files of other frameworks to ONNX models in memory.

Modules
    file_kinds   recognises the format of a file by its bytes
    caffe        reads prototxt and caffemodel by protobuf, with small schemas of its own
    fake_quant   reads the ranges of weights from a TensorFlow graph
    exporters    runs the exporters of other frameworks in separate processes
    messages     makes classes of protobuf messages from tables
    tensorflow   converts .tflite files, graphs, SavedModels and Keras files by tf2onnx
    real_ends    makes quantised inputs and outputs real
    pytorch      converts .pt2 files and TorchScript by PyTorch's exporters

`hexsim.onnx_io.read.reader` reads the result like any ONNX model.
"""

from collections.abc import Sequence
from pathlib import Path

from hexsim.frameworks.file_kinds import framework_of
from hexsim.frameworks.foreign import Dims, Foreign

__all__ = ["Foreign", "is_prototxt", "read_foreign", "weight_files"]


def read_foreign(
    path: Path,
    caffe_bin: str | Path | None = None,
    *,
    input_dims: Dims | None = None,
    output_names: Sequence[str] = (),
) -> Foreign | None:
    """Convert the file at `path` to an ONNX model; None if its framework is not known.

    `caffe_bin` holds the weights of a prototxt. `input_dims` replaces shapes of inputs (axes as
    in the file), and the network ends at `output_names` unless it is empty.
    Raises HexsimError for a file that cannot be read, or needs packages that are not installed.
    """
    from hexsim.frameworks import pytorch, tensorflow

    dims = input_dims or {}
    match framework_of(path):
        case "caffe":
            from hexsim.frameworks.caffe import read_caffe

            weights = None if caffe_bin is None else Path(caffe_bin)
            return read_caffe(path, weights, input_dims=dims, output_names=output_names)
        case "tflite":
            return tensorflow.read_tflite(path, dims, output_names)
        case "tensorflow":
            return tensorflow.read_frozen(path, dims, output_names)
        case "savedmodel":
            return tensorflow.read_saved_model(path, dims, output_names)
        case "checkpoint":
            return tensorflow.read_checkpoint(path, dims, output_names)
        case "keras":
            return tensorflow.read_keras(path, dims, output_names)
        case "torch program":
            return pytorch.read_program(path, dims, output_names)
        case "torch script":
            return pytorch.read_script(path, dims, output_names)
        case None:
            return None


def is_prototxt(path: str | Path) -> bool:
    """True if the file at `path` describes a network of Caffe."""
    return framework_of(Path(path)) == "caffe"


def weight_files(path: Path) -> tuple[Path, ...]:
    """Return the files that are read with the one at `path` by default."""
    if not is_prototxt(path):
        return ()
    from hexsim.frameworks.caffe import beside

    return (beside(path),)
