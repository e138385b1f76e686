"""Benchmarks and the calibration: how fast hexsim is, and how near to measured devices."""

from hexsim.onnx_io.runtime import switch_telemetry_off

switch_telemetry_off()  # some of them load onnxruntime on their own
