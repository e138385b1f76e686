"""3x3 convolutions with a quarter of the products (docs/int8-kernels.md)."""
