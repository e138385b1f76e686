"""The 1024-bit vector unit (HVX) of Hexagon: instructions, packets, kernels' cost."""
