"""Opens an ONNX file and checks its nodes, tensors, names and versions."""
