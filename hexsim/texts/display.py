"""Results as text in a prompt, as a table with bars in a notebook, and as a pandas data frame.

A subclass of `Shown` defines its table; everything else follows from it. Notebooks call the method
`_repr_html_` of an object. Cells are escaped, since names come from files.

Left out: styles of a page, and charts, which are in the reports.
"""

from collections.abc import Iterator
from html import escape
from importlib import import_module
from typing import Any, Generic, Protocol, TypeVar

from hexsim.errors import require_number
from hexsim.records import dataclass
from hexsim.texts.extras import missing
from hexsim.texts.figures import figure
from hexsim.texts.text import visible

MOST_ROWS = 200
"""The most rows of an HTML table; a notebook file stores them all."""
_BAR_PIXELS = 120

Cell = str | int | float | None


@dataclass(frozen=True)
class DisplayTable:
    """A table: a title of one line, the names of its columns, and its rows.

    `bars` is the column whose numbers are also drawn as bars, if there is one.
    """

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    bars: str | None = None


class TimedLayer(Protocol):
    """A layer with its time in microseconds."""

    @property
    def name(self) -> str:
        """Its name."""

    @property
    def type(self) -> str:
        """Its type."""

    @property
    def us(self) -> float:
        """Its time."""


Layer = TypeVar("Layer", bound=TimedLayer)


class LayerTimes(Generic[Layer]):
    """A result with the times of layers: sums by type, the longest, and a plot."""

    layers: Any
    """The layers in their order, a tuple of `Layer`."""

    def by_type(self) -> dict[str, float]:
        """Return the microseconds of the layers of each type, the most first."""
        times: dict[str, float] = {}
        for layer in self.layers:
            times[layer.type] = times.get(layer.type, 0.0) + layer.us
        return dict(sorted(times.items(), key=lambda item: -item[1]))

    def slowest(self, count: int = 10) -> tuple[Layer, ...]:
        """Return the `count` layers that take most time, the longest first."""
        require_number("count", count, 0, 1e9)
        return tuple(sorted(self.layers, key=lambda layer: -layer.us)[:count])

    def plot(self, count: int = 20, ax: Any = None) -> Any:
        """Draw the times of the longest layers as bars; return the matplotlib Axes.

        `ax` is where to draw, by default a new figure. Raises HexsimError if matplotlib is not
        installed.
        """
        if ax is None:
            try:
                pyplot = import_module("matplotlib.pyplot")
            except ImportError:
                raise missing("a plot needs matplotlib, which is not installed", "report") from None
            _, ax = pyplot.subplots(layout="constrained")
        longest = self.slowest(count)
        ax.barh([layer.name for layer in longest], [layer.us for layer in longest])
        ax.invert_yaxis()
        ax.set_xlabel("us")
        return ax


class Shown:
    """A result that can be shown as a table."""

    def display_table(self) -> DisplayTable:
        """Return the table."""
        raise NotImplementedError

    def to_dataframe(self) -> Any:
        """Return the table as a pandas.DataFrame; HexsimError if pandas is not installed."""
        try:
            pandas = import_module("pandas")
        except ImportError:
            raise missing("a data frame needs pandas, which is not installed", "notebook") from None
        table = self.display_table()
        return pandas.DataFrame(list(table.rows), columns=list(table.columns))

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {visible(self.display_table().title)}>"

    def _repr_html_(self) -> str:
        return "".join(_html(self.display_table()))


def _html(table: DisplayTable) -> Iterator[str]:
    yield f"<p><b>{_text(table.title)}</b></p><table><thead><tr>"
    bar_column = table.columns.index(table.bars) if table.bars else None
    for column in table.columns:
        yield f"<th>{_text(column)}</th>"
    if bar_column is not None:
        yield "<th></th>"
    yield "</tr></thead><tbody>"
    longest = (
        max((_number(row[bar_column]) for row in table.rows), default=0.0)
        if bar_column is not None
        else 0.0
    )
    for row in table.rows[:MOST_ROWS]:
        cells = "".join(f"<td>{_text(_cell_text(cell))}</td>" for cell in row)
        bar = "" if bar_column is None else f"<td>{_bar(_number(row[bar_column]), longest)}</td>"
        yield f"<tr>{cells}{bar}</tr>"
    yield "</tbody></table>"
    if len(table.rows) > MOST_ROWS:
        yield f"<p>{len(table.rows) - MOST_ROWS} more rows; to_dataframe() has all.</p>"


def _bar(value: float, longest: float) -> str:
    """Return a bar whose length is proportional to `value`."""
    width = round(_BAR_PIXELS * value / longest) if longest > 0 else 0
    return (
        f'<svg width="{_BAR_PIXELS}" height="10">'
        f'<rect width="{max(0, width)}" height="10" fill="#0072b2"/></svg>'
    )


def _number(cell: Cell) -> float:
    return float(cell) if isinstance(cell, int | float) else 0.0


def _cell_text(cell: Cell) -> str:
    if cell is None:
        return ""
    return figure(cell) if isinstance(cell, float) else f"{cell}"


def _text(text: str) -> str:
    return escape(visible(text))
