"""Encoding rules: from what was seen of a tensor's values to its encoding, one file per mode."""
