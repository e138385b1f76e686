"""How kernels become machine code: compiling, cache on disk, vectors and addresses as LLVM IR."""
