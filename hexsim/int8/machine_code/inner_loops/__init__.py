"""The innermost loops of kernels, written as LLVM IR: vectors in registers, one file for each."""
