"""The energy of an inference as text and as data, the same in all reports."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hexsim.reports.document import Record
from hexsim.texts.figures import figure, span

if TYPE_CHECKING:
    from hexsim.datasheets.estimate import Estimate
    from hexsim.energy import Energy

REPORTED_FACTOR = 2.0
"""Energies that differ by a smaller factor are not reported: their own intervals are wider."""


estimate_facts = Record(
    "Millijoules with all constants as stated, at their lower and at their upper ends.",
    "mj=value mj_low=low mj_high=high",
)

energy_facts = Record(
    "The energy of an inference; that of a layer is among the figures of the layer.",
    ("estimate", estimate_facts),
    {"parts_mj": ("parts", {"part": estimate_facts})},
    {"overheads_mj": ("overheads", [Record("", "name", ("estimate", estimate_facts))])},
)


def ranged(estimate: Estimate) -> str:
    """Return an estimate with its bounds: `23.3 (9.48 .. 52.9)`."""
    return f"{figure(estimate.value)} ({span(estimate.low, estimate.high)})"


def energy_line(energy: Energy) -> str:
    """Return a sentence on the energy of an inference and its parts, the largest first."""
    parts = sorted(energy.parts.items(), key=lambda item: -item[1].value)
    text = ", ".join(f"{part} {figure(estimate.value)}" for part, estimate in parts)
    return f"energy: {ranged(energy.estimate)} mJ by assumed constants ({text})"
