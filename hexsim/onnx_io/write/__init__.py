"""Writes a Network as an ONNX graph that onnxruntime runs."""
