"""Sums to codes, under docs/reference/arithmetic.md: one sum, rows of a tile, and runs."""
