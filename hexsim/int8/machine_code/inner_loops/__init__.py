"""The innermost loops of kernels, written as LLVM IR: vectors in registers, a file for each."""
