"""Quantisation as SNPE does it: encodings, calibration, and the quantised network."""
