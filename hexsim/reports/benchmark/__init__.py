"""The reports of benchmarks."""
