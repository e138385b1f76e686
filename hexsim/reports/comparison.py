"""What changed between two results, as tables, JSON and CSV."""

from collections.abc import Iterator

from hexsim.errors import spelled
from hexsim.reports.document import Record
from hexsim.reports.text import table
from hexsim.studies.comparison import CaseChange, Comparison, FigureChange
from hexsim.texts.figures import figure, percent

_MOST_LAYERS = 10
_UNITS = {"us": (1e-3, "ms"), "B": (2**-20, "MiB")}


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
    several = len({case.chip for case in comparison.cases}) > 1
    for case in comparison.cases:
        yield _case(case, f" of {case.chip}" if several else "")
    if not comparison.cases:
        yield "Nothing is in both."


def _case(case: CaseChange, of_chip: str) -> str:
    lines = [f"{case.network} on {case.runtime}{of_chip}"]
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
        lines.append(
            f"(and {len(moved) - _MOST_LAYERS} more layers changed; {spelled('json')} has all)"
        )
    elif not moved:
        lines.append("No layer changed.")
    return "\n".join(lines)


def _row(change: FigureChange) -> tuple[str, ...]:
    scale, unit = _UNITS.get(change.unit, (1.0, change.unit))
    return (
        f"{change.name} ({unit})" if unit else change.name,
        *("-" if end is None else figure(end * scale) for end in (change.before, change.after)),
        _changed(change),
    )


def _changed(change: FigureChange) -> str:
    if change.before is None or change.after is None:
        return "gone" if change.after is None else "new"
    if change.unit == "dB":
        more_db = change.after - change.before
        return f"{figure(more_db, '+')} dB" if more_db else "="
    if change.ratio is None or change.ratio == 1.0:
        return "=" if change.before == change.after else "from 0"
    return percent(change.ratio - 1.0, "+")


_change = Record(
    "A figure or a layer in its own unit; the ratio is after over before.",
    FigureChange,
    "ratio",
)

case_facts = Record(
    "A network on a runtime.",
    "network chip runtime",
    {
        "conditions": ("conditions", [Record("", "name=0 before=1 after=2")]),
        "figures": ("figures", [_change]),
        "layers": ("layers", [_change]),
    },
)

comparison_facts = Record(
    "What changed between two results.",
    "versions only_before=gone only_after=new",
    {"cases": ("cases", [case_facts])},
)

_csv_row = Record("", "network=0.network runtime=0.runtime kind=1", ("2", _change), "chip=0.chip")


def comparison_csv(comparison: Comparison) -> str:
    """Return a row for each figure and each layer."""
    return _csv_row.csv(
        (case, kind, change)
        for case in comparison.cases
        for kind, changes in (("figure", case.figures), ("layer", case.layers))
        for change in changes
    )
