"""What changed between two results, as text: figures of each network, then layers that moved."""

from __future__ import annotations

from collections.abc import Iterator

from hexsim.reports.text import quantity, table
from hexsim.studies.comparison import CaseChange, Comparison, FigureChange

_MOST_LAYERS = 10
_FACTORS = {"us": (1e-3, "ms"), "mJ": (1.0, "mJ"), "dB": (1.0, "dB")}


def comparison_table(found: Comparison) -> str:
    """Return first what is not alike in general, then each network on each runtime."""
    return "\n\n".join(_blocks(found))


def _blocks(found: Comparison) -> Iterator[str]:
    before, after = found.versions
    general = [f"hexsim {before} before, {after} after"] if before != after else []
    general += [f"only before: {name}" for name in found.gone]
    general += [f"only after: {name}" for name in found.new]
    if general:
        yield "\n".join(general)
    for case in found.cases:
        yield _case(case)
    if not found.cases:
        yield "Nothing is in both."


def _case(case: CaseChange) -> str:
    lines = [f"{case.network} on {case.runtime}"]
    lines += [
        f"  {name}: {before} before, {after} after" for name, before, after in case.conditions
    ]
    told = [figure for figure in case.figures if (figure.before, figure.after) != (None, None)]
    rows = [_row(one) for one in told]
    moved = sorted(
        (layer for layer in case.layers if layer.before != layer.after),
        key=lambda one: -abs((one.after or 0.0) - (one.before or 0.0)),
    )
    rows += [_row(one) for one in moved[:_MOST_LAYERS]]
    lines.append(table(("", "before", "after", "change"), rows))
    if len(moved) > _MOST_LAYERS:
        lines.append(f"(and {len(moved) - _MOST_LAYERS} more layers changed; --json has all)")
    elif not moved:
        lines.append("No layer changed.")
    return "\n".join(lines)


def _row(one: FigureChange) -> tuple[str, str, str, str]:
    return one.name, _shown(one.before, one.unit), _shown(one.after, one.unit), _changed(one)


def _shown(value: float | None, unit: str) -> str:
    if value is None:
        return "-"
    if unit == "B":
        return quantity(value, "B")
    factor, name = _FACTORS[unit]
    return f"{value * factor:.4g} {name}"


def _changed(one: FigureChange) -> str:
    if one.before is None or one.after is None:
        return "gone" if one.after is None else "new"
    if one.unit == "dB":
        return f"{one.after - one.before:+.1f} dB" if one.after != one.before else "="
    if one.ratio is None or one.ratio == 1.0:
        return "=" if one.before == one.after else "from 0"
    return f"{one.ratio - 1.0:+.1%}"
