"""The energy of an inference as text and as data, the same in all reports."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hexsim.texts.figures import figure, span

if TYPE_CHECKING:
    from hexsim.datasheets.estimate import Estimate
    from hexsim.results.costs import EnergyUse, Millijoule, Range

REPORTED_FACTOR = 2.0
"""Energies that differ by a smaller factor are not reported: their own intervals are wider."""


def ranged(estimate: Estimate | Range) -> str:
    """Return an estimate with its bounds: `23.3 (9.48 .. 52.9)`."""
    return f"{figure(estimate.value)} ({span(estimate.low, estimate.high)})"


def millijoules(energy: Millijoule) -> str:
    """Return an energy with its bounds."""
    return f"{figure(energy.mj)} ({span(energy.mj_low, energy.mj_high)})"


def energy_line(energy: EnergyUse) -> str:
    """Return a sentence on the energy of an inference and its parts, the largest first."""
    parts = sorted(energy.parts_mj.items(), key=lambda item: -item[1].mj)
    text = ", ".join(f"{part} {figure(spent.mj)}" for part, spent in parts)
    return f"energy: {millijoules(energy)} mJ by assumed constants ({text})"
