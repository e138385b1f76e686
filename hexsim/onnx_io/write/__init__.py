"""From a Network to an ONNX graph that onnxruntime runs."""
