"""Sweeps: one network or several, simulated at every point of a space of designs.

`space` reads what is asked, `points` numbers it, `settings` makes once what does not depend on a
constant, `evaluation` simulates a point, `engine` has points simulated by workers, and `table` is
the answer as a file. `effects` and `front` read it.
"""
