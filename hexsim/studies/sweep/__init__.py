"""Sweeps: one network or several, simulated at every point of a space of designs.

`space` reads the definition, `points` numbers the points, `settings` plans once what depends on no
constant, `evaluation` simulates a point, `engine` shares points among workers, and `table` writes
the results. `effects` and `front` analyse them.
"""
