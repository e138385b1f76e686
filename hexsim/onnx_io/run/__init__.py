"""Computes the float values of a Network by onnxruntime on the host."""
