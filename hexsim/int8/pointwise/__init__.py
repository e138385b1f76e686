"""Kernels without products: windows, element by element, tables, copies."""
