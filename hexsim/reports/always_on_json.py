"""An always-on network for programs."""

from __future__ import annotations

import json
from typing import Any

from hexsim import __version__
from hexsim.deployment.platform import Platform
from hexsim.energy import EnergyEstimate
from hexsim.studies.always_on import Alternative, AlwaysOn


def always_on_json(found: AlwaysOn, platform: Platform) -> str:
    """Return both alternatives as a JSON document; power in milliwatts, duty 0 .. 1."""
    told = {
        "hexsim_version": __version__,
        "chip": platform.chip.name,
        "stack": platform.stack.name,
        "network": found.network,
        "every_ms": found.every_ms,
        "better": found.possible[0].where,
        "at_both_ends": found.is_certain,
        "alternatives": [_facts(alternative) for alternative in found.alternatives],
    }
    return json.dumps(told, indent=1) + "\n"


def _facts(one: Alternative) -> dict[str, Any]:
    if one.refusal:
        return {"where": one.where, "refusal": one.refusal}
    return {
        "where": one.where,
        "average_power_mw": _power(one.milliwatts),
        "parts_mw": {part: _power(power) for part, power in one.parts.items()},
        "duty": one.duty,
        "call_ms": one.call_ms,
        "corner": one.corner,
        "clock_hz": one.clock_hz,
        "elsewhere": list(one.elsewhere),
        "refusal": None,
    }


def _power(power: EnergyEstimate) -> dict[str, float]:
    return {"value": power.value, "low": power.low, "high": power.high}
