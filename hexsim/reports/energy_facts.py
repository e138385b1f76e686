"""The energy of an inference in words and by key: the same wherever it is told."""

from __future__ import annotations

from typing import Any

from hexsim.energy import Energy, EnergyEstimate


def energy_facts(energy: Energy) -> dict[str, Any]:
    """Return the whole inference, and it by part, in millijoules; overheads by themselves.

    Layers have theirs among their other figures.
    """
    return {
        **estimate_facts(energy.estimate),
        "parts_mj": {part: estimate_facts(one) for part, one in energy.parts.items()},
        "overheads_mj": [
            {"name": overhead.name, **estimate_facts(overhead.estimate)}
            for overhead in energy.overheads
        ],
    }


def estimate_facts(estimate: EnergyEstimate) -> dict[str, float]:
    """Return a number of millijoules and its ends."""
    return {"mj": estimate.value, "mj_low": estimate.low, "mj_high": estimate.high}


def millijoules(estimate: EnergyEstimate) -> str:
    """Return a number of millijoules with its ends, three digits each: `23.3 (9.48 .. 52.9)`."""
    return f"{digits(estimate.value)} ({digits(estimate.low)} .. {digits(estimate.high)})"


def digits(number: float) -> str:
    """Return three digits, or all before the point."""
    return f"{number:.0f}" if number >= 1000 else f"{number:.3g}"


def energy_line(energy: Energy) -> str:
    """Return a sentence on the whole inference and its parts, the largest first."""
    parts = sorted(energy.parts.items(), key=lambda item: -item[1].value)
    told = ", ".join(f"{part} {digits(one.value)}" for part, one in parts)
    return f"energy: {millijoules(energy.estimate)} mJ by assumed constants ({told})"
