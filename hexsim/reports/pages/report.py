"""A page of figures: a summary on top, then each figure with its table, and one search for layers.

The page contains the drawing library and the data, so it opens from a disk without a network.
"""

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from string import Template
from typing import Any

from hexsim import __version__
from hexsim.reports.pages.figures.chart import item, library
from hexsim.reports.pages.figures.figure import Figure
from hexsim.reports.pages.repetition import shortened
from hexsim.reports.pages.shell import asset, page


@dataclass(frozen=True)
class Heading:
    """The top of a page: its subject, the command that made it, and its main figures.

    `lead` are sentences for a page with an answer; the first is the answer and is printed large.
    """

    title: str
    source: str
    command: str
    summary: tuple[tuple[str, str], ...]
    lead: tuple[str, ...] = ()


def report(heading: Heading, figures: Sequence[Figure], layers: Iterable[str] = ()) -> str:
    """Return the document; its search looks for `layers`. HexsimError without the library."""
    script = library()
    named = [(f"figure-{number}", figure) for number, figure in enumerate(figures)]
    body = Template(asset("report.html")).substitute(
        sections="".join(_section(name, figure) for name, figure in named)
    )
    names = list(layers)
    data = {
        **asdict(heading),
        "hexsim_version": __version__,
        "layers": names,
        "figures": [_data(name, figure, set(names)) for name, figure in named],
    }
    short = shortened(data)
    return page(f"{heading.title} - hexsim", body, short, ("report.css",), "report.js", (script,))


def _section(name: str, figure: Figure) -> str:
    """Return the section of a figure; a drawing is markup in which names are already escaped."""
    drawing = (
        f'<div class="drawing" tabindex="0" role="region" aria-label="Drawing">{figure.drawing}'
        "</div>"
    )
    content = drawing if figure.drawing else ""
    return f'<section id="{name}" aria-labelledby="{name}-title">{content}</section>\n'


def _data(name: str, figure: Figure, layers: set[str]) -> dict[str, Any]:
    return {
        "id": name,
        "title": figure.title,
        "text": figure.text,
        "legend": figure.legend,
        "item": None if figure.chart is None else item(figure.chart),
        "choices": figure.choices,
        "paints": {name: asdict(paint) for name, paint in figure.paints.items()},
        "table": asdict(figure.table),
        "by_layer": any(cell in layers for row in figure.table.rows for cell in row),
    }
