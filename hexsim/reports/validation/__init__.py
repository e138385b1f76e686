"""The reports on how far a runtime's values are from float."""
