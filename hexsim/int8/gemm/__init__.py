"""Convolutions: implicit matrix products, from what is padded and packed to the inner loop."""
