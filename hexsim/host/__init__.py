"""Around the DSP: CPU and GPU runtimes, and what a call into the DSP costs."""
