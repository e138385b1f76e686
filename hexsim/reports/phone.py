"""A phone's profile beside the simulation, as text."""

from collections.abc import Iterator, Sequence

from hexsim.errors import spelled
from hexsim.reports.text import number, table
from hexsim.results.phone import Pair, PhoneComparison
from hexsim.texts.figures import figure

_MOST_UNMATCHED = 20
_NUMBERS = ("measured us", "simulated us", "ratio")


def phone_table(comparison: PhoneComparison) -> str:
    """Return the conditions, the layers, the classes with sums, and what only one side has."""
    return "\n\n".join(_blocks(comparison))


def _blocks(comparison: PhoneComparison) -> Iterator[str]:
    lines = [
        f"{comparison.network} on {comparison.chip} {comparison.runtime}, {comparison.software}, "
        f"{comparison.perf_profile}; measured: {comparison.format}"
    ]
    if comparison.remark:
        lines.append(comparison.remark)
    yield "\n".join(lines)
    layers = [
        (pair.name, pair.layer_class, str(len(pair.rows)) if len(pair.rows) > 1 else "", *_us(pair))
        for pair in comparison.layers
    ]
    yield table(
        ("layer", "class", "rows", *_NUMBERS),
        layers,
        left=frozenset({0, 1}),
        first_to_go=(2,),
        explained={("rows",): "of the phone for this layer, if more than one"},
    )
    sums = [*comparison.classes, *comparison.totals]
    yield table(("class (layers)", *_NUMBERS), [(pair.name, *_us(pair)) for pair in sums])
    measured = [
        (row.name or f"layer {row.id}", row.measured_us) for row in comparison.only_measured
    ]
    yield from _unmatched("only measured", measured)
    simulated = [(pair.name, pair.simulated_us) for pair in comparison.only_simulated]
    yield from _unmatched("only simulated", simulated)


def _unmatched(title: str, rows: Sequence[tuple[str, float]]) -> Iterator[str]:
    if not rows:
        return
    total = sum(us for _, us in rows)
    shown = [f"  {name}: {figure(us)} us" for name, us in rows[:_MOST_UNMATCHED]]
    if len(rows) > _MOST_UNMATCHED:
        shown.append(f"  (and {len(rows) - _MOST_UNMATCHED} more; {spelled('json')} has all)")
    yield "\n".join((f"{title}: {number(len(rows), 'layer')}, {figure(total)} us", *shown))


def _us(pair: Pair) -> tuple[str, str, str]:
    ratio = "-" if pair.ratio is None else figure(pair.ratio)
    return figure(pair.measured_us), figure(pair.simulated_us), ratio
