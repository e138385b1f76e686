"""Exact integer kernels: what a fixed-point runtime computes (docs/reference/arithmetic.md).

`runner.IntegerSubnet` runs lowered calls. `dispatch.prepare` finds the kernel of each call, which
lists its work as `step.Step`s (`prepared.PreparedCall`). A
`commands.KernelCommandList` does the work. From the top down:

    runner               a subnet from floats to floats
    execution_context    the memory and the command list of one of its inferences
    quantize_dequantize  floats to codes (quantised values), and codes to floats
    packed_call          what all its inferences share
    dispatch             which kernel computes a call
    sixteen_bit          16-bit operands, byte by byte
    fully_connected      a convolution whose pixels are the batch
    autotuner            which of several algorithms computes a convolution, measured if in doubt
    gemm                 convolutions as matrix products, from padding and packing to the inner loop
    winograd             3x3 convolutions with a quarter of the products
    pointwise            everything without products: windows, element by element, tables, copies
    requantize           sums to codes
    commands             the table of steps, the thread pool, where activations lie
    machine_code         compiling, the cache on disk, all that is written as LLVM IR
    panel                the shape of packed weights, which kernels and IR share

Kernels are numba functions on NHWC u8 tensors, compiled when first used and cached on disk. They
know nothing of time, encodings or networks: hexsim.lowering gives them integers.
docs/concepts/int8-kernels.md explains tiles, packing and exactness, docs/concepts/running.md how a
subnet runs.
"""
