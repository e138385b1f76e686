"""Encoding rules compute encodings from observations of tensors; a mode may be added as a file."""
