"""Instruction streams of the vector kernels, scheduled for a machine."""
