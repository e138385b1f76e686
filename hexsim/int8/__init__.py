"""Exact integer kernels: what a fixed-point runtime computes, under docs/arithmetic.md.

`runner.IntegerSubnet` runs bound calls; `dispatch.prepare` chooses a kernel for each. Kernels are
numba functions on NHWC u8 tensors, compiled when first used and kept on disk. They know nothing of
time, encodings or networks: hexsim.binding hands them integers.
"""
