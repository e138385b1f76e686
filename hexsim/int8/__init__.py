"""Exact integer kernels: what a fixed-point runtime computes (docs/reference/arithmetic.md).

`runner.IntegerSubnet` runs lowered calls, from floats to floats. `dispatch.prepare` finds the
kernel of each call, which lists its work as `step.Step`s; `autotuner` chooses among the algorithms
of a convolution, measured if in doubt. A `commands.KernelCommandList` does the work. `gemm` and
`winograd` have products, `pointwise` everything else; `machine_code` compiles, and has all that is
written as LLVM IR.

Kernels are numba functions on NHWC u8 tensors, compiled when first used and cached on disk. They
know nothing of time, encodings or networks: hexsim.lowering gives them integers.
docs/concepts/int8-kernels.md explains tiles, packing and exactness, docs/concepts/running.md how a
subnet runs.
"""
