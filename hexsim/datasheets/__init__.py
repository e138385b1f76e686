"""Data of chips, software stacks and background loads, with sources and confidence."""
