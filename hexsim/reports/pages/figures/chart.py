"""Bokeh, imported in the one place that says what all charts have in common.

A chart is as wide as the page, and has no colours for its axes: the page paints those as the
reader's system is light or dark. The page has the buttons and keys that move it, too. Nothing in a
chart is code, so that a page may forbid whatever is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

from hexsim.errors import HexsimError

ALPHA = "alpha"
"""The column that the page changes to fade what a reader does not look for."""
PALETTE = (
    *("#4c8bd6", "#e08a2e", "#3fa66b", "#a873d1", "#d65f6a", "#b59a1f"),
    *("#2fa3a3", "#9a7b5c", "#7482d9", "#83a13a", "#cf67a8", "#6d8f7c"),
)
"""Colours that are seen on white and on black."""
GREY = "#8a929e"
_POWERS = range(-6, 13)
"""Powers of ten that are ticks until the page knows its room."""

_IDS = frozenset(("id", "root_id"))
"""Where Bokeh's data have the ids of models."""


def load_bokeh() -> ModuleType:
    """Return the module bokeh; HexsimError if it is not installed."""
    try:
        for part in ("plotting", "models", "embed"):
            import_module(f"bokeh.{part}")
        return import_module("bokeh")
    except ImportError:
        raise HexsimError(
            "pages with figures need bokeh, which is not installed; pip install 'hexsim[report]'"
        ) from None


def library() -> str:
    """Return the script that draws in a browser, from the installed package."""
    folder = Path(str(load_bokeh().__file__)).parent
    return (folder / "server/static/js/bokeh.min.js").read_text(encoding="utf-8")


def item(chart: Any) -> Any:
    """Return a chart as data for that script, the same in every process."""
    from bokeh.embed import json_item

    return _renumbered(json_item(chart), {})


def _renumbered(value: Any, known: dict[str, str]) -> Any:
    """The same with ids that count what comes; Bokeh's depend on the order of its sets."""
    if isinstance(value, list):
        return [_renumbered(one, known) for one in value]
    if not isinstance(value, dict):
        return value
    return {
        key: known.setdefault(one, f"p{len(known)}")
        if key in _IDS and isinstance(one, str)
        else _renumbered(one, known)
        for key, one in value.items()
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
    told: Sequence[tuple[str, str]] = (),
    **options: Any,
) -> Any:
    """Return an empty chart with labels of both axes; `told` is what a pointed mark says.

    `options` are those of Bokeh's figure.
    """
    from bokeh.models import HoverTool
    from bokeh.plotting import figure

    made = figure(
        height=height,
        sizing_mode="stretch_width",
        tools="box_zoom,reset",
        active_drag="box_zoom",
        toolbar_location=None,
        x_axis_label=across,
        y_axis_label=up,
        min_border_right=12,
        background_fill_alpha=0.0,
        border_fill_alpha=0.0,
        **options,
    )
    made.axis.minor_tick_line_color = None
    _plain_powers(made)
    if told:
        made.add_tools(HoverTool(tooltips=list(told), point_policy="follow_mouse"))
    return made


def _plain_powers(made: Any) -> None:
    """Write powers as numbers; the page chooses which of them, by the room that there is."""
    from bokeh.models import BasicTickFormatter, FixedTicker, LogAxis

    for axis in made.select(LogAxis):
        axis.ticker = FixedTicker(ticks=[10.0**power for power in _POWERS])
        axis.formatter = BasicTickFormatter(use_scientific=False)
