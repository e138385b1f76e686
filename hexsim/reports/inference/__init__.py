"""The report of one inference: time, memory and energy of its layers."""
