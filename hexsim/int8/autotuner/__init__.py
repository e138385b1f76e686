"""Which of several algorithms computes a convolution: the table, and how it is decided."""
