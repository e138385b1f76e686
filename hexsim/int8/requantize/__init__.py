"""Sums to codes, under docs/reference/arithmetic.md: one, rows of a tile, and a run of one
requantise stage."""
