"""What changed between two results, as JSON and CSV."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

from hexsim.reports.csv_text import csv_text
from hexsim.studies.comparison import Comparison, FigureChange

HEADER = ("network", "runtime", "kind", "name", "unit", "before", "after", "ratio")


def comparison_json(found: Comparison) -> str:
    """Return all figures and all layers; ratios are after over before."""
    cases = [
        {
            "network": case.network,
            "runtime": case.runtime,
            "conditions": [
                {"name": name, "before": before, "after": after}
                for name, before, after in case.conditions
            ],
            "figures": [_change(figure) for figure in case.figures],
            "layers": [_change(layer) for layer in case.layers],
        }
        for case in found.cases
    ]
    told = {"versions": found.versions, "only_before": found.gone, "only_after": found.new}
    return json.dumps({**told, "cases": cases}, indent=1, allow_nan=False) + "\n"


def comparison_csv(found: Comparison) -> str:
    """Return a row for each figure and each layer."""
    rows = [
        (case.network, case.runtime, kind, *_change(change).values())
        for case in found.cases
        for kind, changes in (("figure", case.figures), ("layer", case.layers))
        for change in changes
    ]
    return csv_text(HEADER, rows)


def _change(one: FigureChange) -> dict[str, Any]:
    return {**asdict(one), "ratio": one.ratio}
