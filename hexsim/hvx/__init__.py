"""The 1024-bit vector unit, seen from its time side."""
