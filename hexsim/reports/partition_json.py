"""How a network is cut for AIP, as JSON."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

from hexsim import __version__
from hexsim.studies.cuts import Found, Prices, Survey


def partition_json(prices: Prices, survey: Survey, found: Found | None) -> str:
    """Return the survey, and what a search found, as a JSON document."""
    return json.dumps(partition_facts(prices, survey, found), indent=1) + "\n"


def partition_facts(prices: Prices, survey: Survey, found: Found | None = None) -> dict[str, Any]:
    """Return the survey, and what a search found, as data; times in microseconds."""
    times, network = prices.times, prices.times.network
    document: dict[str, Any] = {
        "hexsim_version": __version__,
        "network": network.name,
        "chip": times.platform.chip.name,
        "stack": times.platform.stack.name,
        "rules": times.platform.stack.partitioning.rules,
        **asdict(survey),
    }
    if found is not None:
        document["search"] = {
            "best": found.best_ids,
            "best_us": found.best_us,
            "default": found.default_ids,
            "default_us": found.default_us,
            "hvx_us": found.hvx_us,
            "gain": {"value": found.gain, "low": found.low, "high": found.high},
        }
    return document
