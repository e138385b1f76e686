"""What changed between two results, as JSON and CSV."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

from hexsim.reports.csv_text import csv_text
from hexsim.studies.comparison import Comparison, FigureChange

HEADER = ("network", "runtime", "kind", "name", "unit", "before", "after", "ratio")


def comparison_json(comparison: Comparison) -> str:
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
        for case in comparison.cases
    ]
    document = {
        "versions": comparison.versions,
        "only_before": comparison.gone,
        "only_after": comparison.new,
    }
    return json.dumps({**document, "cases": cases}, indent=1, allow_nan=False) + "\n"


def comparison_csv(comparison: Comparison) -> str:
    """Return a row for each figure and each layer."""
    rows = [
        (case.network, case.runtime, kind, *_change(change).values())
        for case in comparison.cases
        for kind, changes in (("figure", case.figures), ("layer", case.layers))
        for change in changes
    ]
    return csv_text(HEADER, rows)


def _change(change: FigureChange) -> dict[str, Any]:
    return {**asdict(change), "ratio": change.ratio}
