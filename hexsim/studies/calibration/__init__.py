"""Constants of chips and stacks from measured times.

`estimator` is the arithmetic, `constants` lists the uncertain constants, `prediction` simulates
measured rows with other constants. `published` fits the constants that the shipped files mark as
calibrated, and `own` continues from there with rows that a user measured.
"""
