"""The figures of a layer's time as data, the same in every file that lists layers."""

from __future__ import annotations

from typing import Any

from hexsim.reports.document import attributes
from hexsim.timing.results import LayerTiming


def layer_facts(layer: LayerTiming) -> dict[str, Any]:
    """Return the figures of one layer: times in microseconds, bytes by level of memory."""
    return {
        **attributes(layer, "name", "type", "engine", "cycles", "us", "macs", "packets"),
        **attributes(layer, "stall_share", "hvx_utilisation", "array_utilisation"),
        **attributes(layer, "ddr_bytes", "ddr_read_bytes", "ddr_write_bytes"),
        **attributes(layer, "l2_bytes", "vtcm_bytes", "bound", "bound_share"),
        **attributes(layer, parts_us="parts_ps", cost_model="cost_model"),
    }
