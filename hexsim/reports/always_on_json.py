"""An always-on network as JSON."""

from __future__ import annotations

import json
from typing import Any

from hexsim import __version__
from hexsim.deployment.platform import Platform
from hexsim.energy import EnergyEstimate
from hexsim.studies.always_on import Alternative, AlwaysOn


def always_on_json(study: AlwaysOn, platform: Platform) -> str:
    """Return both alternatives as a JSON document; power in milliwatts, duty 0 .. 1."""
    document = {
        "hexsim_version": __version__,
        "chip": platform.chip.name,
        "stack": platform.stack.name,
        "network": study.network,
        "every_ms": study.every_ms,
        "better": study.possible[0].where,
        "at_both_ends": study.is_certain,
        "alternatives": [_facts(alternative) for alternative in study.alternatives],
    }
    return json.dumps(document, indent=1) + "\n"


def _facts(alternative: Alternative) -> dict[str, Any]:
    if alternative.refusal:
        return {"where": alternative.where, "refusal": alternative.refusal}
    return {
        "where": alternative.where,
        "average_power_mw": _power(alternative.milliwatts),
        "parts_mw": {part: _power(power) for part, power in alternative.parts.items()},
        "duty": alternative.duty,
        "call_ms": alternative.call_ms,
        "corner": alternative.corner,
        "clock_hz": alternative.clock_hz,
        "elsewhere": list(alternative.elsewhere),
        "refusal": None,
    }


def _power(power: EnergyEstimate) -> dict[str, float]:
    return {"value": power.value, "low": power.low, "high": power.high}
