"""The profile of one inference as CSV: a row per layer, bytes by level, time by its bound."""

from __future__ import annotations

from typing import get_args

from hexsim.energy import Energy
from hexsim.memory import Footprint
from hexsim.reports.csv_text import csv_text
from hexsim.reports.energy_facts import estimate_facts
from hexsim.reports.layer_facts import layer_facts
from hexsim.timing.results import Bound, Result

_PARTS = tuple(f"{bound}_us" for bound in get_args(Bound))


_MEMORY = ("weight_bytes", "packed_bytes", "live_bytes", "on_chip_bytes")


def profile_csv(result: Result, memory: Footprint, energy: Energy) -> str:
    """Return the layers of the first inference, in the order in which they ran."""
    layer_memory = {layer.name: layer for layer in memory.layers}
    rows = []
    for layer, layer_energy in zip(result.layers, energy.layers, strict=True):
        facts = layer_facts(layer)
        parts = facts.pop("parts_us")
        facts |= estimate_facts(layer_energy.estimate)
        facts |= {name: getattr(layer_memory[layer.name], name) for name in _MEMORY}
        rows.append(facts | {f"{bound}_us": us for bound, us in parts.items()})
    header = [*(key for key in rows[0] if key not in _PARTS), *_PARTS] if rows else list(_PARTS)
    return csv_text(header, ([row.get(key, 0.0) for key in header] for row in rows))
