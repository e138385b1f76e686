"""16-bit operands: what is linear byte by byte, the rest in 64 bits."""
