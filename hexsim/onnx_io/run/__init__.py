"""Float values of a Network, by onnxruntime on the host."""
