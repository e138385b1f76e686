"""Kernels with the same code for every vector: four pixels of 32 channels, or 128 codes."""

from hexsim.hvx.streams._code import listed

divide = listed("divide")
requantize = listed("requantize")

add = listed("add")
multiply = listed("multiply")
batch_norm = listed("batch_norm")
rescale = listed("rescale")
copy = listed("copy")
clamp = listed("clamp")
prelu = listed("prelu")
table = listed("table")


TABLE_PARTS = 8  # a table of 256 codes is eight tables of 32
