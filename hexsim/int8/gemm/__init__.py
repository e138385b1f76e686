"""Convolutions as implicit matrix products, from padding and packing to the inner loop."""
