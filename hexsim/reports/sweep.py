"""The results of a sweep as tables and as JSON."""

from collections.abc import Sequence
from types import SimpleNamespace

from hexsim.reports.anchor import anchor_keys
from hexsim.reports.document import Record
from hexsim.reports.text import number, table
from hexsim.studies.sweep.effects import Effects
from hexsim.studies.sweep.table import Swept
from hexsim.texts.figures import figure, given

_MOST_PAIRS = 5
_SHOWN = 0.005
"""Parts of the variance below half a percent are left out."""


def summary(swept: Swept) -> str:
    """Return the number of points, refusals, and values outside the bounds of their constants."""
    points = number(swept.table.num_rows, "point")
    varied = number(len(swept.varied), "parameter")
    lines = [f"{points}, {varied} varied; swept by hexsim {swept.version}"]
    lines += calibrated_with(swept)
    if sizes := swept.space.vtcm_mb:
        lines.append(f"VTCM of a graph: {' or '.join(f'{size:g}' for size in sizes)} MB")
    refusals = [text for text in swept.table["refusal"].to_pylist() if text]
    if refusals:
        lines.append(f"refused: {number(len(refusals), 'point')}, the first because {refusals[0]}")
    outside = {
        path for paths in swept.table["outside_bounds"].to_pylist() for path in paths.split()
    }
    if outside:
        lines.append(f"some values are outside the bounds of: {', '.join(sorted(outside))}")
    return "\n".join(lines)


def calibrated_with(swept: Swept) -> list[str]:
    """Return what was measured on a phone, to which the chip was calibrated, if any."""
    anchor = swept.space.measured
    return [] if anchor is None else [f"calibrated with {anchor.description}"]


def front_table(swept: Swept, rows: Sequence[int], figures: Sequence[str]) -> str:
    """Return the parameters that vary and the figures of the given rows."""
    header = ("point", *swept.varied, *figures)
    points = swept.table.take(list(rows)).select(list(dict.fromkeys(header))).to_pylist()
    cells = [tuple(cell(row[name]) for name in header) for row in points]
    parameters = range(1, 1 + len(swept.varied))
    return table(header, cells, first_to_go=tuple(parameters)[::-1])


def effects_table(effects: Effects) -> str:
    """Return each parameter's part of the variance, then the pairs with an effect of their own."""
    title = f"{effects.result}: {spread_text(effects)}"
    if not effects.alone:
        return f"{effects.result} is the same at all points"
    rows = [(name, f"{part:.0%}") for name, part in effects.alone.items()]
    pairs = [
        (f"{first} with {second}", f"{part:.0%}")
        for (first, second), part in list(effects.together.items())[:_MOST_PAIRS]
        if part >= _SHOWN
    ]
    return f"{title}\n{table(('parameter', 'part of its variance'), [*rows, *pairs])}"


def spread_text(effects: Effects) -> str:
    """Return how far most points lie apart."""
    return f"nine in ten points lie within a factor of {figure(effects.spread)}"


def cell(value: object) -> str:
    """Return a value of a column as text."""
    return given(value) if isinstance(value, float) else str(value)


_effects = Record(
    "The parts that parameters, alone and in pairs, have in the variance of a figure.",
    "figure=result spread alone",
    {
        "together": lambda effects: [
            {"parameters": pair, "part": part} for pair, part in effects.together.items()
        ]
    },
)

sweep_facts = Record(
    "The front of a sweep with all columns, and what matters for each figure.",
    (
        "swept",
        "hexsim_version=version",
        {"space": lambda swept: swept.space.model_dump(mode="json", exclude_none=True)},
        (lambda swept: SimpleNamespace(anchor=swept.space.measured), anchor_keys),
        "points=table.num_rows varied",
    ),
    "figures",
    {"front": lambda result: result.swept.table.take(list(result.rows)).to_pylist()},
    {"effects": ("effects", [_effects])},
    results="swept rows figures effects",
)
