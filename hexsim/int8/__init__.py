"""Exact integer kernels: what a fixed-point runtime computes, under docs/reference/arithmetic.md.

`runner.IntegerSubnet` runs lowered calls. `dispatch.prepare` finds for each who computes it, which
says in `step.Step`s what there is to do (`prepared.PreparedCall`); a `programs.program.Program`
does it. From the top down:

    runner             a subnet from floats to floats
    execution context, edges        the memory and the program of one of its inferences
    packed_call        what all its inferences share
    dispatch           who computes a call
    wide               16-bit operands, byte by byte
    fully_connected    a convolution whose pixels are the batch
    choice             which of several algorithms computes a convolution, measured where in doubt
    products           convolutions as matrix products, from padding and packing to the inner loop
    winograd           3x3 convolutions with a quarter of the products
    passes             everything without products: windows, element by element, tables, copies
    requantise         sums to codes
    programs           the table of steps, its threads, where activations lie
    machine_code       compiling, the cache on disk, all that is written as LLVM IR
    panel              the shape of packed weights, which kernels and IR share

Kernels are numba functions on NHWC u8 tensors, compiled when first used and kept on disk. They know
nothing of time, encodings or networks: hexsim.lowering hands them integers.
docs/concepts/int8-kernels.md explains tiles, packing and exactness, docs/concepts/running.md how a
subnet runs.
"""
