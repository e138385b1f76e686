"""Normalisations and softmax: passes over vectors of 128 codes.

A normalisation sums raw codes and their squares, because zero points are subtracted from the sums;
codes of 16 bits are split in bytes for that, because their squares would not fit words. Left out:
sums across lanes, the integer root and its reciprocal, scalar code for each statistic. No
hand-written kernel is known. In a flat row a vector of a softmax has twice the exponentials.
"""

from hexsim.hvx.isa import HvxMachine
from hexsim.hvx.streams._code import listed
from hexsim.hvx.streams._kernel import Kernel

D32_STEPS = (5, 3)
"""Halvings of a maximum among 32 bytes, and of a sum among eight words."""
FLAT_STEPS = (6, 5)
"""The same in a flat vector that holds two rows of codes."""


def statistics(machine: HvxMachine, steps: tuple[int, int]) -> Kernel:
    """Reduce the maximum and the sum of a row inside their vectors, and find the reciprocal."""
    maxima = ["masked", *(f"largest{step}" for step in range(steps[0] - 1))]
    totals = ["sum", *(f"total{step}" for step in range(steps[1] - 1))]
    chains = [", ".join(f"{before} {k}" for k, before in enumerate(c)) for c in (maxima, totals)]
    return listed("statistics", machine, maxima=chains[0], totals=chains[1])


def local_response_norm_vector(machine: HvxMachine, radius: int) -> Kernel:
    """Compute one vector of outputs; radius: neighbours on either side."""
    steps = ", ".join(map(str, range(radius)))
    return listed("local_response_norm", machine, radius=radius, steps=steps)
