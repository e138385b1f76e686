"""Constants of chips and stacks from measured times.

`estimator` is the arithmetic, `prediction` lists the uncertain constants and simulates measured
rows with others. `own` continues from the published fit with the rows of a user, which `own_rows`
reads.
"""
