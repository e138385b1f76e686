"""What is around the DSP: the float engine, the CPU and GPU models, the cost of entering."""
