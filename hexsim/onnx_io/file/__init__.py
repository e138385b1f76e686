"""An ONNX file as it is: its nodes, tensors, names and versions, checked once."""
