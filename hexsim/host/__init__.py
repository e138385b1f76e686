"""The surroundings of the DSP: CPU and GPU models, and the cost of entering the DSP."""
