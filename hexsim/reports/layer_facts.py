"""The figures of a layer's time as data, the same in every file that lists layers."""

from __future__ import annotations

from typing import Any

from hexsim.timing.results import LayerTiming
from hexsim.timing.simtime import PS_PER_US


def layer_facts(layer: LayerTiming) -> dict[str, Any]:
    """Return the figures of one layer: times in microseconds, bytes by level of memory."""
    return {
        "name": layer.name,
        "type": layer.type,
        "engine": layer.engine,
        "cycles": layer.cycles,
        "us": layer.us,
        "macs": layer.macs,
        "packets": layer.packets,
        "stall_share": layer.stall_share,
        "hvx_utilisation": layer.hvx_utilisation,
        "array_utilisation": layer.array_utilisation,
        "ddr_bytes": layer.ddr_bytes,
        "ddr_read_bytes": layer.ddr_read_bytes,
        "ddr_write_bytes": layer.ddr_write_bytes,
        "l2_bytes": layer.l2_bytes,
        "vtcm_bytes": layer.vtcm_bytes,
        "bound": layer.bound,
        "bound_share": layer.bound_share,
        "parts_us": {bound: ps / PS_PER_US for bound, ps in layer.parts_ps.items()},
        "cost_model": layer.cost_model,
    }
