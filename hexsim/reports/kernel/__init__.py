"""The reports on a kernel and its instructions."""
