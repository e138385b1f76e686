"""Simulations as traces on a timeline."""
