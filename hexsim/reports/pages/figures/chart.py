"""Imports Bokeh and sets the properties that all charts share.

A chart is as wide as the page. The page sets the colours of its axes for a light or dark system
and has the buttons and keys that move it. A chart contains no code, so that the policy of a page
can forbid all scripts but its own.
"""

from collections.abc import Mapping, Sequence
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

from hexsim.texts.extras import missing

ALPHA = "alpha"
"""The column that the page changes to fade marks that do not match a search."""
_POWERS = range(-6, 13)
"""Exponents of the ticks, from which the page later chooses those that fit."""

_IDS = frozenset(("id", "root_id"))
"""Keys under which Bokeh's data contain ids of models."""


def load_bokeh() -> ModuleType:
    """Return the module bokeh; HexsimError if it is not installed."""
    try:
        for part in ("plotting", "models", "embed"):
            import_module(f"bokeh.{part}")
        return import_module("bokeh")
    except ImportError:
        needs = "pages with figures need bokeh, which is not installed"
        raise missing(needs, "report") from None


def library() -> str:
    """Return the script that draws in a browser, from the installed package."""
    folder = Path(str(load_bokeh().__file__)).parent
    return (folder / "server/static/js/bokeh.min.js").read_text(encoding="utf-8")


def item(chart: Any) -> Any:
    """Return a chart as data for that script, the same in every process."""
    from bokeh.embed import json_item

    return _renumbered(json_item(chart), {})


def _renumbered(value: Any, ids: dict[str, str]) -> Any:
    """Return the value with ids numbered in order; Bokeh's own depend on the order of its sets."""
    if isinstance(value, list):
        return [_renumbered(item, ids) for item in value]
    if not isinstance(value, dict):
        return value
    return {
        key: ids.setdefault(item, f"p{len(ids)}")
        if key in _IDS and isinstance(item, str)
        else _renumbered(item, ids)
        for key, item in value.items()
    }


def source(columns: Mapping[str, Sequence[Any]]) -> Any:
    """Return columns of equal length as data of marks; the page finds layers by `name`."""
    from bokeh.models import ColumnDataSource

    length = len(next(iter(columns.values())))
    return ColumnDataSource({**columns, ALPHA: [1.0] * length})


def chart(
    across: str,
    up: str,
    *,
    height: int = 320,
    tooltip: Sequence[tuple[str, str]] = (),
    zoom: str = "box_zoom",
    **options: Any,
) -> Any:
    """Return an empty chart with labels of both axes; `tooltip` is shown for a mark pointed at.

    `zoom` is the tool that a drag uses, `options` are those of Bokeh's figure.
    """
    from bokeh.models import HoverTool
    from bokeh.plotting import figure

    plot = figure(
        height=height,
        sizing_mode="stretch_width",
        tools=f"{zoom},reset",
        active_drag=zoom,
        toolbar_location=None,
        x_axis_label=across,
        y_axis_label=up,
        min_border_right=12,
        background_fill_alpha=0.0,
        border_fill_alpha=0.0,
        **options,
    )
    plot.axis.minor_tick_line_color = None
    _plain_numbers(plot)
    if tooltip:
        plot.add_tools(HoverTool(tooltips=list(tooltip), point_policy="follow_mouse"))
    return plot


def _plain_numbers(plot: Any) -> None:
    """Write all ticks as plain numbers; the page chooses those that fit."""
    from bokeh.models import BasicTickFormatter, FixedTicker, LogAxis

    for axis in plot.axis:
        if isinstance(axis, LogAxis):
            axis.ticker = FixedTicker(ticks=[10.0**power for power in _POWERS])
        axis.formatter = BasicTickFormatter(use_scientific=False)


def inked(lines: Any) -> None:
    """Give lines the colour of the page's text, which is seen upon and beside every bar."""
    lines.glyph.tags = ["ink"]


def rectangles(plot: Any, columns: Mapping[str, Sequence[Any]], **style: Any) -> Any:
    """Draw a rectangle per row of left, right, bottom, top and colour; return their data."""
    marks = source(columns)
    looks: dict[str, Any] = {key: key for key in ("left", "right", "top", "bottom")}
    looks |= {"fill_color": "colour", "line_color": None, "fill_alpha": ALPHA, **style}
    plot.quad(source=marks, **looks)
    return marks


def name_rows(plot: Any, names: Sequence[str]) -> None:
    """Write names on the left, one per row; row 0 is at height 0, and the others below it."""
    _named(plot.yaxis[0], plot.ygrid, names, -1)


def name_columns(plot: Any, names: Sequence[str]) -> None:
    """Write names below, one per column; column 0 is at 0, and the others on its right."""
    from bokeh.models import Range1d

    _named(plot.xaxis[0], plot.xgrid, names, 1)
    plot.x_range = Range1d(-0.7, len(names) - 0.3)
    plot.xaxis.major_label_orientation = "vertical"


def _named(axis: Any, grid: Any, names: Sequence[str], direction: int) -> None:
    """Leave names to the page, which writes as many and as much of each as there is room for."""
    from bokeh.models import FixedTicker

    axis.ticker = FixedTicker(ticks=[])
    axis.tags = [{"names": list(names), "direction": direction}]
    grid.grid_line_color = None
