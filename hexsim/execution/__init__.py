"""The values of a plan: float subnets in onnxruntime, integer subnets in exact kernels."""
