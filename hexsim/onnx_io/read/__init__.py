"""From an ONNX file to a Network, node by node."""
