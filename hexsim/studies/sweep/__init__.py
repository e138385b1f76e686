"""Sweeps: one network or several, simulated at every point of a space of designs.

`space` reads the definition, `settings` plans once what depends on no constant, `points` numbers
the points and simulates one. `table` shares them among workers and writes the results. `analysis`
answers with the front and with what matters.
"""
