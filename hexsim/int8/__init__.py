"""Exact integer kernels: what a fixed-point runtime computes, under docs/arithmetic.md.

`runner.IntegerSubnet` runs bound calls: `dispatch.prepare` chooses a kernel for each, which says in
`step.Step`s what there is to do, and a `program.Program` does it (docs/running.md). Kernels are
numba functions on NHWC u8 tensors, compiled when first used and kept on disk. They know nothing of
time, encodings or networks: hexsim.binding hands them integers.
"""
