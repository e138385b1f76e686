"""Questions that take many runs: benchmarks, throughput, trade-offs, cuts, uncertainty."""
