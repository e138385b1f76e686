"""Compiled code: packets read by the disassembler of LLVM, and the clocks of its loops."""
