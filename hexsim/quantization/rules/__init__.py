"""Encoding rules compute an encoding from the observation of a tensor; one file per mode."""
