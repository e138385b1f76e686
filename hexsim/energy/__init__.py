"""Energy of an inference, from the counts of a simulation and constants of datasheets."""

from hexsim.energy.account import Energy, inference_energy
from hexsim.energy.estimate import PARTS, Part, Spent
from hexsim.energy.power import average_power_w

__all__ = [
    "PARTS",
    "Energy",
    "Part",
    "Spent",
    "average_power_w",
    "inference_energy",
]
