"""The reports on how a network is cut for AIP."""
