"""The 1024-bit vector unit (HVX) of Hexagon: instructions, packets, costs of kernels."""
