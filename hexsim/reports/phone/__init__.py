"""The reports on a phone's profile beside the simulation."""
