"""Converts files of other frameworks to ONNX models in memory.

Modules
    file_kinds   recognises the format of a file by its bytes
    caffe        reads prototxt and caffemodel by protobuf, with small schemas of its own
    exporters    runs the exporters of other frameworks in separate processes
    messages     makes classes of protobuf messages from tables
    tensorflow   converts .tflite files, graphs, SavedModels and Keras files by tf2onnx
    real_ends    makes quantised inputs and outputs real
    pytorch      converts .pt2 files and TorchScript by PyTorch's exporters

`hexsim.onnx_io.read.reader` reads the result like any ONNX model.
"""

from hexsim.frameworks.foreign import Foreign
from hexsim.frameworks.importing import is_prototxt, read_foreign, weight_files

__all__ = ["Foreign", "is_prototxt", "read_foreign", "weight_files"]
