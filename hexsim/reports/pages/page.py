"""A page of figures: one HTML document with its styles, scripts and data inside.

A summary stands on top, then each figure with its table, and one search for layers. The page
contains its scripts and the data, so it opens from a disk without a network.

Texts of a model are never markup or code. Data is JSON in an element that no name can close, and
scripts insert it as text. A content security policy allows only the page's own scripts, by their
hashes, and no requests, so that a mistake elsewhere can neither run code nor send data.

A column with many repeated values becomes its distinct values and an index into them for each row,
which keeps pages of 1 000 layers small. Only `chart.js`, which expands it, depends on this form.
"""

import json
from base64 import b64encode
from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256
from html import escape
from pathlib import Path
from string import Template
from typing import Any

from hexsim import __version__
from hexsim.records import asdict, dataclass
from hexsim.reports.pages.figures.chart import Figure

_HERE = Path(__file__).parent
_IN_SCRIPTS = str.maketrans({"<": "\\u003c", ">": "\\u003e", "&": "\\u0026"})


def asset(name: str) -> str:
    """Return the text of a file of this package."""
    return (_HERE / name).read_text(encoding="utf-8")


def page(title: str, body: str, data: Mapping[str, Any], styles: Sequence[str], script: str) -> str:
    """Return the document; `body` is markup, `styles` and `script` are names of assets."""
    scripts = (asset("chart.js"), asset(script))
    return Template(asset("shell.html")).substitute(
        title=escape(title),
        hashes=" ".join(map(_source, scripts)),
        styles="".join(map(asset, ("shell.css", *styles))),
        body=body,
        data=embedded(data),
        scripts="\n".join(f"<script>{code}</script>" for code in scripts),
    )


def _source(code: str) -> str:
    """Return the name of an inline script in the policy."""
    return f"'sha256-{b64encode(sha256(code.encode()).digest()).decode()}'"


def embedded(data: Mapping[str, Any]) -> str:
    """Return `data` as JSON that neither ends a script element nor begins a comment in one."""
    return json.dumps(data, separators=(",", ":"), allow_nan=False).translate(_IN_SCRIPTS)


_FEWEST = 32
"""The least number of rows of a column that is shortened."""


def shortened(value: Any) -> Any:
    """Return data for JSON with repetitive columns in the short form."""
    if isinstance(value, dict):
        return {key: shortened(item) for key, item in value.items()}
    if not isinstance(value, list | tuple):
        return value
    if len(value) >= _FEWEST and all(isinstance(item, str | float) for item in value):
        return _column(value)
    return [shortened(item) for item in value]


def _column(values: Sequence[str | float]) -> Any:
    """Return the values, or their short form if at least half of them are repetitions."""
    indices: dict[str | float, int] = {}
    rows = [indices.setdefault(value, len(indices)) for value in values]
    return (
        {"distinct": list(indices), "at": rows} if 2 * len(indices) <= len(values) else list(values)
    )


@dataclass(frozen=True)
class Heading:
    """The top of a page: its subject, the command that made it, and its main figures.

    `lead` are sentences for a page with an answer; the first is the answer and is printed large.
    """

    title: str
    source: str
    command: str
    summary: tuple[tuple[str, str], ...] = ()
    lead: tuple[str, ...] = ()


def report(heading: Heading, figures: Sequence[Figure], layers: Iterable[str] = ()) -> str:
    """Return the document; its search looks for `layers`."""
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
    return page(f"{heading.title} - hexsim", body, short, ("report.css",), "report.js")


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
        "chart": None if figure.chart is None else asdict(figure.chart),
        "choices": figure.choices,
        "paints": {name: asdict(paint) for name, paint in figure.paints.items()},
        "table": asdict(figure.table),
        "by_layer": any(cell in layers for row in figure.table.rows for cell in row),
    }
