"""How a network is cut for AIP, as JSON."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

from hexsim import __version__
from hexsim.studies.cuts import FastestCut, Prices, Survey


def partition_json(prices: Prices, survey: Survey, search: FastestCut | None) -> str:
    """Return the survey, and the result of a search, as a JSON document."""
    return json.dumps(partition_facts(prices, survey, search), indent=1) + "\n"


def partition_facts(
    prices: Prices, survey: Survey, search: FastestCut | None = None
) -> dict[str, Any]:
    """Return the survey, and the result of a search, as data; times in microseconds."""
    times, network = prices.times, prices.times.network
    document: dict[str, Any] = {
        "hexsim_version": __version__,
        "network": network.name,
        "chip": times.platform.chip.name,
        "stack": times.platform.stack.name,
        "rules": times.platform.stack.partitioning.rules,
        **asdict(survey),
    }
    if search is not None:
        document["search"] = {
            "best": search.best_ids,
            "best_us": search.best_us,
            "default": search.default_ids,
            "default_us": search.default_us,
            "hvx_us": search.hvx_us,
            "gain": {"value": search.gain, "low": search.low, "high": search.high},
        }
    return document
