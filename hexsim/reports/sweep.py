"""The results of a sweep as text."""

from collections.abc import Sequence

from hexsim.reports.text import number, table
from hexsim.results.sweep import Effects, Sweep
from hexsim.texts.figures import figure, given

_MOST_PAIRS = 5
_SHOWN = 0.005
"""Parts of the variance below half a percent are left out."""


def sweep_text(sweep: Sweep) -> str:
    """Return all of it: the counts, the front, and what matters to each figure."""
    return "\n\n".join((summary(sweep), front_table(sweep), *map(effects_table, sweep.effects)))


def summary(sweep: Sweep) -> str:
    """Return the number of points, refusals, and values outside the bounds of their constants."""
    points, varied = number(sweep.points, "point"), number(len(sweep.varied), "parameter")
    lines = [f"{points}, {varied} varied; swept by hexsim {sweep.version}"]
    lines += [sweep.calibration] * bool(sweep.calibration)
    sizes: Sequence[float] = sweep.space.get("vtcm_mb") or ()
    if sizes:
        lines.append(f"VTCM of a graph: {' or '.join(f'{size:g}' for size in sizes)} MB")
    if sweep.refused:
        refused = number(sweep.refused, "point")
        lines.append(f"refused: {refused}, the first because {sweep.refusal}")
    if sweep.outside_bounds:
        lines.append(f"some values are outside the bounds of: {', '.join(sweep.outside_bounds)}")
    return "\n".join(lines)


def front_table(sweep: Sweep) -> str:
    """Return the parameters that vary and the figures of the points that nothing beats."""
    header = ("point", *sweep.varied, *sweep.figures)
    cells = [tuple(cell(row[name]) for name in header) for row in sweep.front]
    parameters = range(1, 1 + len(sweep.varied))
    return table(header, cells, first_to_go=tuple(parameters)[::-1])


def effects_table(effects: Effects) -> str:
    """Return each parameter's part of the variance, then the pairs with an effect of their own."""
    title = f"{effects.figure}: {spread_text(effects)}"
    if not effects.alone:
        return f"{effects.figure} is the same at all points"
    rows = [(name, f"{part:.0%}") for name, part in effects.alone.items()]
    pairs = [
        (" with ".join(pair.parameters), f"{pair.part:.0%}")
        for pair in effects.together[:_MOST_PAIRS]
        if pair.part >= _SHOWN
    ]
    return f"{title}\n{table(('parameter', 'part of its variance'), [*rows, *pairs])}"


def spread_text(effects: Effects) -> str:
    """Return how far most points lie apart."""
    return f"nine in ten points lie within a factor of {figure(effects.spread)}"


def cell(value: object) -> str:
    """Return a value of a column as text."""
    return given(value) if isinstance(value, float) else str(value)
