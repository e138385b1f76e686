"""A roofline as data: JSON and CSV of the same points."""

from __future__ import annotations

import json
import math
from typing import Any

from hexsim import __version__
from hexsim.reports.csv_text import csv_text
from hexsim.studies.roofline import Roofline, RooflinePoint


def roofline_json(chart: Roofline) -> str:
    """Return roofs and points as a JSON document."""
    return json.dumps(roofline_facts(chart), indent=1) + "\n"


def roofline_facts(chart: Roofline) -> dict[str, Any]:
    """Return roofs and points as data; rates in units per second."""
    case, roofs = chart.case, chart.roofs
    return {
        "hexsim_version": __version__,
        "network": case.network,
        "chip": case.chip,
        "stack": case.stack,
        "runtime": case.runtime,
        "perf_profile": case.perf_profile,
        "engine": roofs.engine,
        "peak_macs_per_s": roofs.peak_macs_per_s,
        "memories": [
            {
                "name": memory.name,
                "level": memory.level,
                "bytes_per_s": memory.bytes_per_s,
                "is_limit": memory.is_limit,
            }
            for memory in roofs.memories
        ],
        "other_layers": chart.other_layers,
        "other_share": chart.other_share,
        "points": [_facts(point) for point in chart.points],
    }


def roofline_csv(chart: Roofline) -> str:
    """Return the points as CSV text, those that lose most time first."""
    return csv_text(_KEYS, (list(_facts(point).values()) for point in chart.points))


_KEYS = (
    "name",
    "type",
    "macs",
    "us",
    "ddr_macs_per_byte",
    "l2_macs_per_byte",
    "macs_per_s",
    "roof",
    "roof_macs_per_s",
    "lost_us",
    "bound",
)


def _facts(point: RooflinePoint) -> dict[str, Any]:
    layer = point.layer
    values = (
        layer.name,
        layer.type,
        layer.macs,
        layer.us,
        _finite(point.ddr_intensity),
        _finite(point.l2_intensity),
        point.macs_per_s,
        point.roof,
        point.roof_macs_per_s,
        point.lost_us,
        layer.bound,
    )
    return dict(zip(_KEYS, values, strict=True))


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None
