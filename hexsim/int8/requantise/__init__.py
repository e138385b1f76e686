"""Sums to codes, as docs/arithmetic.md has it: one, rows of a tile, and a run of one tail."""
