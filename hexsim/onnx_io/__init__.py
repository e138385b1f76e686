"""ONNX files in, ONNX graphs out: `reader.read` and `writer.write`."""
