"""The reports of rooflines."""
