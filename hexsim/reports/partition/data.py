"""How a network is cut for AIP, as JSON."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from hexsim import __version__
from hexsim.reports.document import attributes, json_document
from hexsim.studies.cuts import FastestCut, Prices, Survey


def partition_json(prices: Prices, survey: Survey, search: FastestCut | None) -> str:
    """Return the survey, and the result of a search, as a JSON document."""
    return json_document(partition_facts(prices, survey, search))


def partition_facts(
    prices: Prices, survey: Survey, search: FastestCut | None = None
) -> dict[str, Any]:
    """Return the survey, and the result of a search, as data; times in microseconds."""
    document: dict[str, Any] = {
        "hexsim_version": __version__,
        **attributes(prices.times, network="network.name", chip="platform.chip.name"),
        **attributes(prices.times.platform.stack, stack="name", rules="partitioning.rules"),
        **asdict(survey),
    }
    if search is not None:
        document["search"] = {
            **attributes(search, best="best_ids", best_us="best_us", default="default_ids"),
            **attributes(search, "default_us", "hvx_us"),
            "gain": attributes(search, value="gain", low="low", high="high"),
        }
    return document
