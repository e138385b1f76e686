"""The Hexagon Tensor Processor of V68 and later: the time of a compiled graph of layers.

One graph, compiled ahead, keeps activations in VTCM, multiplies on the matrix engine (HMX), does
the rest on HVX, and fetches weights by DMA. Only time is modelled here: values are those of the
integer kernels or of the float engine, and may differ from those of the device.
Left out: several graphs at once, floats with codes in one graph, sparse weights, int4.
"""
