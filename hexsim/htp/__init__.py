"""The Hexagon Tensor Processor of V68 and later: what a compiled graph of layers takes there.

One graph, compiled ahead, keeps activations in VTCM, multiplies on the matrix engine (HMX), does
the rest on HVX, and has weights brought by DMA. Timing only: values follow the contract of the
integer kernels, or are those of the float engine, and neither is claimed to be the device's.
Left out: energy, several graphs at once, floats with codes in one graph, sparse weights, int4.
"""
