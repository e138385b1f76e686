"""What a sweep found, as text: how many points, the front, and what matters."""

from __future__ import annotations

from collections.abc import Sequence

from hexsim.reports.text import number, table
from hexsim.studies.sweep.effects import Effects
from hexsim.studies.sweep.table import Swept

_MOST_PAIRS = 5
_SHOWN = 0.005
"""Parts of the variance below half a percent are left out."""


def summary(swept: Swept) -> str:
    """Points, refusals, and values outside the bounds of their constants."""
    points = number(swept.table.num_rows, "point")
    varied = number(len(swept.varied), "parameter")
    lines = [f"{points}, {varied} varied; swept by hexsim {swept.version}"]
    refusals = [text for text in swept.table["refusal"].to_pylist() if text]
    if refusals:
        lines.append(f"refused: {number(len(refusals), 'point')}, the first because {refusals[0]}")
    outside = {path for one in swept.table["outside_bounds"].to_pylist() for path in one.split()}
    if outside:
        lines.append(f"some values are outside the bounds of: {', '.join(sorted(outside))}")
    return "\n".join(lines)


def front_table(swept: Swept, rows: Sequence[int], figures: Sequence[str]) -> str:
    """The parameters that vary and the figures of some rows."""
    header = ("point", *swept.varied, *figures)
    taken = swept.table.take(list(rows)).select(list(dict.fromkeys(header))).to_pylist()
    cells = [tuple(_cell(row[name]) for name in header) for row in taken]
    texts = range(1, 1 + len(swept.varied))
    return table(header, cells, first_to_go=tuple(texts)[::-1])


def effects_table(found: Effects) -> str:
    """Each parameter's part of the variance, then the pairs that add something."""
    title = f"{found.result}: {spread_text(found)}"
    if not found.alone:
        return f"{found.result} is the same at all points"
    rows = [(name, f"{part:.1%}") for name, part in found.alone.items()]
    pairs = [
        (f"{one} with {other}", f"{part:.1%}")
        for (one, other), part in list(found.together.items())[:_MOST_PAIRS]
        if part >= _SHOWN
    ]
    return f"{title}\n{table(('parameter', 'part of its variance'), [*rows, *pairs])}"


def spread_text(found: Effects) -> str:
    """How far most points lie apart."""
    return f"nine in ten points lie within a factor of {found.spread:.3g}"


def _cell(value: object) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)
