"""Energy of an inference, from the counts of a simulation and constants of datasheets."""

from hexsim.energy.account import PARTS, Energy, Part, Spent, average_power_w, inference_energy

__all__ = ["PARTS", "Energy", "Part", "Spent", "average_power_w", "inference_energy"]
