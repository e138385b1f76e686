"""Which engine runs which layer, and the kernel calls that follow: no weights, no clock."""
