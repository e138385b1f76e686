"""3x3 convolutions with a quarter of the products (docs/concepts/winograd.md)."""
