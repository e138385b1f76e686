"""The energy of an inference as text and as data, the same in all reports."""

from __future__ import annotations

from typing import Any

from hexsim.datasheets.estimate import Estimate
from hexsim.energy import Energy

TOLD_FACTOR = 2.0
"""Energies that differ by a smaller factor are not told: their own intervals are wider."""


def energy_facts(energy: Energy) -> dict[str, Any]:
    """Return the energy of an inference, of its parts and of its overheads, in millijoules.

    The energy of a layer is among the figures of that layer.
    """
    return {
        **estimate_facts(energy.estimate),
        "parts_mj": {part: estimate_facts(estimate) for part, estimate in energy.parts.items()},
        "overheads_mj": [
            {"name": overhead.name, **estimate_facts(overhead.estimate)}
            for overhead in energy.overheads
        ],
    }


def estimate_facts(estimate: Estimate) -> dict[str, float]:
    """Return a number of millijoules and its bounds."""
    return {"mj": estimate.value, "mj_low": estimate.low, "mj_high": estimate.high}


def ranged(estimate: Estimate) -> str:
    """Return a figure with its bounds, three digits each: `23.3 (9.48 .. 52.9)`."""
    return f"{digits(estimate.value)} ({digits(estimate.low)} .. {digits(estimate.high)})"


def digits(number: float) -> str:
    """Return three digits, or all before the point."""
    return f"{number:.0f}" if number >= 1000 else f"{number:.3g}"


def energy_line(energy: Energy) -> str:
    """Return a sentence on the energy of an inference and its parts, the largest first."""
    parts = sorted(energy.parts.items(), key=lambda item: -item[1].value)
    text = ", ".join(f"{part} {digits(estimate.value)}" for part, estimate in parts)
    return f"energy: {ranged(energy.estimate)} mJ by assumed constants ({text})"
