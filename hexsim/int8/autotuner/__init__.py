"""How one of several algorithms is chosen for a convolution, and the table of algorithms."""
