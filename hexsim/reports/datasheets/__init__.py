"""Chips, stacks and their constants as text."""
