"""Reports: tables, JSON and CSV made of results; they know nothing of kernels."""
