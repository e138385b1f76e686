"""What two models differ in, by kind, and what changed between two results."""

from collections.abc import Iterable, Iterator
from itertools import groupby

from hexsim.errors import spelled
from hexsim.reports.text import error_lines, table
from hexsim.results.comparison import CaseChange, Comparison, Fastest, FigureChange
from hexsim.results.difference import KINDS, Difference
from hexsim.texts.figures import figure, percent


def diff_table(answer: Difference) -> str:
    """Return the tables that have lines, or a sentence if there is no difference."""
    if not answer:
        return f"{answer.first} and {answer.second} do not differ"
    return "\n\n".join(filter(None, (_table(answer, kind) for kind in KINDS)))


def _table(answer: Difference, kind: str) -> str:
    header = {
        "layers": ("layer", "only in"),
        "weights": ("layer", "what", "largest difference", "values that differ"),
        "sections": ("chip", "what", answer.first, answer.second),
    }.get(kind, ("layer", "what", answer.first, answer.second))
    rows = [
        (row.layer, row.what, row.first, row.second)[: len(header)]
        for row in answer.rows
        if row.difference == KINDS[kind]
    ]
    left = frozenset(range(len(header)))
    return f"{KINDS[kind]}\n{table(header, rows, left=left)}" if rows else ""


_MOST_LAYERS = 10
CHANGE_UNITS = {"us": (1e-3, "ms"), "B": (2**-20, "MiB")}


def comparison_table(comparison: Comparison) -> str:
    """Return the general differences, then each network on each runtime."""
    return "\n\n".join(_blocks(comparison))


def _blocks(comparison: Comparison) -> Iterator[str]:
    before, *others = comparison.versions
    newer = [after for after in dict.fromkeys(others) if after != before]
    if comparison.fastest:
        yield "\n".join(_fastest(comparison.fastest))
    general = [f"hexsim {before} before, {after} after" for after in newer]
    if general:
        yield "\n".join(general)
    yield from map(_case, comparison.cases)
    if not comparison.cases:
        yield "Nothing is in both."
    if errors := error_lines(comparison.expected_errors):
        yield "\n".join(errors)
    alone = [f"only before: {name}" for name in comparison.only_before]
    alone += [f"only after: {name}" for name in comparison.only_after]
    if alone:
        yield "\n".join(alone)


def _fastest(fastest: Iterable[Fastest]) -> Iterator[str]:
    """Yield `Fastest for NETWORK: 2.50 ms on fxp_cpu of sd855 -> 1.00 ms on htp of sd8gen2`."""
    for network, group in groupby(fastest, key=lambda first: first.network):
        times = (f"{figure(f.total_us / 1e3)} ms on {f.runtime} of {f.chip}" for f in group)
        yield f"Fastest for {network}: {' -> '.join(times)}"


def _case(case: CaseChange) -> str:
    lines = [f"{case.name}{_headline(case)}"]
    lines += [
        f"  {each.name}: {each.before} before, {each.after} after" for each in case.conditions
    ]
    figures = [figure for figure in case.figures if (figure.before, figure.after) != (None, None)]
    rows = [_comparison_row(change) for change in figures]
    moved = sorted(
        (layer for layer in case.layers if layer.before != layer.after),
        key=lambda change: -abs((change.after or 0.0) - (change.before or 0.0)),
    )
    rows += [_comparison_row(change) for change in moved[:_MOST_LAYERS]]
    lines.append(table(("", "before", "after", "change"), rows))
    if len(moved) > _MOST_LAYERS:
        lines.append(
            f"(and {len(moved) - _MOST_LAYERS} more layers changed; {spelled('json')} has all)"
        )
    elif not moved:
        lines.append("No layer changed.")
    return "\n".join(lines)


def _headline(case: CaseChange) -> str:
    """Return the change of the main figure: `: 4.05 -> 0.977 ms, -75.9%`."""
    if not case.figures or None in (case.figures[0].before, case.figures[0].after):
        return ""
    unit, before, after, changed = _cells(case.figures[0])
    return f": {before} -> {after} {unit}, {changed if changed != '=' else 'no change'}"


def _comparison_row(change: FigureChange) -> tuple[str, ...]:
    unit, *cells = _cells(change)
    return (f"{change.name} ({unit})" if unit else change.name, *cells)


def _cells(change: FigureChange) -> tuple[str, str, str, str]:
    """Return the unit to show, both values in it, and how they changed."""
    scale, unit = CHANGE_UNITS.get(change.unit, (1.0, change.unit))
    ends = (change.before, change.after)
    before, after = ("-" if end is None else figure(end * scale) for end in ends)
    return unit, before, after, _changed(change)


def _changed(change: FigureChange) -> str:
    if change.before is None or change.after is None:
        return "gone" if change.after is None else "new"
    if change.before == change.after:
        return "="
    if change.unit == "dB":
        return f"{figure(change.after - change.before, '+')} dB"
    if change.ratio is None:
        return "from 0"
    return percent(change.ratio - 1.0, "+")
