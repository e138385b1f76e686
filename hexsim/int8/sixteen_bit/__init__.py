"""16-bit operands: linear layers byte by byte, the others in 64 bits."""
