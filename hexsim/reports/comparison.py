"""What changed between two results, as tables, JSON and CSV."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from hexsim.reports.csv_text import csv_text
from hexsim.reports.text import quantity, table
from hexsim.studies.comparison import CaseChange, Comparison, FigureChange

_MOST_LAYERS = 10
_FACTORS = {"us": (1e-3, "ms"), "1/s": (1.0, "/s")}


def comparison_table(comparison: Comparison) -> str:
    """Return the general differences, then each network on each runtime."""
    return "\n\n".join(_blocks(comparison))


def _blocks(comparison: Comparison) -> Iterator[str]:
    before, after = comparison.versions
    general = [f"hexsim {before} before, {after} after"] if before != after else []
    general += [f"only before: {name}" for name in comparison.gone]
    general += [f"only after: {name}" for name in comparison.new]
    if general:
        yield "\n".join(general)
    for case in comparison.cases:
        yield _case(case)
    if not comparison.cases:
        yield "Nothing is in both."


def _case(case: CaseChange) -> str:
    lines = [f"{case.network} on {case.runtime}"]
    lines += [
        f"  {name}: {before} before, {after} after" for name, before, after in case.conditions
    ]
    figures = [figure for figure in case.figures if (figure.before, figure.after) != (None, None)]
    rows = [_row(change) for change in figures]
    moved = sorted(
        (layer for layer in case.layers if layer.before != layer.after),
        key=lambda change: -abs((change.after or 0.0) - (change.before or 0.0)),
    )
    rows += [_row(change) for change in moved[:_MOST_LAYERS]]
    lines.append(table(("", "before", "after", "change"), rows))
    if len(moved) > _MOST_LAYERS:
        lines.append(f"(and {len(moved) - _MOST_LAYERS} more layers changed; --json has all)")
    elif not moved:
        lines.append("No layer changed.")
    return "\n".join(lines)


def _row(change: FigureChange) -> tuple[str, str, str, str]:
    return (
        change.name,
        _shown(change.before, change.unit),
        _shown(change.after, change.unit),
        _changed(change),
    )


def _shown(value: float | None, unit: str) -> str:
    if value is None:
        return "-"
    if unit == "B":
        return quantity(value, "B")
    factor, name = _FACTORS.get(unit, (1.0, unit))
    return f"{value * factor:.4g} {name}"


def _changed(change: FigureChange) -> str:
    if change.before is None or change.after is None:
        return "gone" if change.after is None else "new"
    if change.unit == "dB":
        return f"{change.after - change.before:+.1f} dB" if change.after != change.before else "="
    if change.ratio is None or change.ratio == 1.0:
        return "=" if change.before == change.after else "from 0"
    return f"{change.ratio - 1.0:+.1%}"


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
