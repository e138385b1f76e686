"""Constants of chips and stacks from measured times.

`estimator` is the arithmetic, `constants` says which numbers are in doubt, `prediction` simulates
measured rows under other constants. `published` fits what the shipped files call calibrated, and
`own` goes on from there with rows that a user measured.
"""
