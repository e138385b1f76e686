"""Files of other frameworks than ONNX, brought into ONNX models in memory.

Rooms within
    file_kinds   what a file is by its bytes
    caffe        prototxt and caffemodel, read by protobuf with small schemas of our own
    exporters    runs the exporters that other frameworks have, in processes of their own
    messages     classes of protobuf messages, made from tables
    tensorflow   .tflite files, graphs, SavedModels and Keras files, through tf2onnx
    real_ends    inputs and outputs that are codes become real numbers
    pytorch      .pt2 files and TorchScript, through PyTorch's exporters

What comes out goes the way of any ONNX model: `hexsim.onnx_io.read.reader` makes a Network of it.
"""

from hexsim.frameworks.foreign import Foreign
from hexsim.frameworks.importing import is_prototxt, read_foreign, weight_files

__all__ = ["Foreign", "is_prototxt", "read_foreign", "weight_files"]
