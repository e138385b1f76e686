"""Benchmarks and the calibration: how fast hexsim is, and how near to measured devices."""
