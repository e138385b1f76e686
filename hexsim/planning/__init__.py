"""Decides which engine runs which layer, and makes kernel calls without weights or times."""
