"""A profile that was measured on a phone, beside the simulation of the same network."""
