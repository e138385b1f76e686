"""Chips and engines beside each other, layer by layer; and two results before and after a change.

The bars are of the layers that take longest anywhere, in the order of the network; the tables have
all layers. Of several chips the fastest runtime of each is drawn.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from hexsim.reports.colours import MAIN, MARKED, in_turn
from hexsim.reports.differences import CHANGE_UNITS
from hexsim.reports.pages.figures.chart import (
    BAR,
    MOST,
    Chart,
    Figure,
    FigureTable,
    columns_of,
    not_drawn,
)
from hexsim.results.benchmark import Inference
from hexsim.results.comparison import CaseChange, FigureChange
from hexsim.results.costs import LayerCost

_KEYS = ("name", "left", "right", "bottom", "top", "colour")
_DRAWN = 6
"""The most cases with bars."""
_BAR, _BETWEEN = 8, 8
"""The height of a bar, and of the space between layers, in px."""
Place = tuple[str, Inference]
"""The name of the place where a case ran, and the case."""


def side_by_side(placed: Sequence[Place]) -> list[Figure]:
    """Return the figure of the cases of one network, the fastest first; none for a single case."""
    if len(placed) < 2:
        return []
    layers = {place: {layer.name: layer for layer in case.layers} for place, case in placed}
    names = list(dict.fromkeys(name for of_case in layers.values() for name in of_case))
    drawn = _fastest(placed)
    colours = in_turn([place for place, _ in drawn])
    longest = {name: max(_us(layers[place], name) or 0.0 for place in colours) for name in names}
    shown = set(sorted(names, key=lambda name: -longest[name])[:MOST])
    marks = {place: layers[place] for place in colours}
    chosen = [name for name in names if name in shown]
    tooltip = (("", "{name}"), ("on", "{place}"), ("takes", "{right}"), ("bound", "{bound}"))
    chart = Chart("", row_height=_BAR * len(drawn) + _BETWEEN, tooltip=tooltip, rows=chosen)
    chart.begin_bars(max([0.0, *(layer.us for layer in of.values())]) for of in marks.values())
    totals = {place: case.total_inference_us or 1.0 for place, case in drawn}
    choices = {
        "time in us": _bars(chosen, marks, colours, dict.fromkeys(totals, 1.0)),
        "share of the inference in %": _bars(
            chosen, marks, colours, {place: us / 100 for place, us in totals.items()}
        ),
    }
    chart.draw("rects", **choices["time in us"])
    some = "the fastest runtime of each chip" if len(drawn) < len(placed) else "each runtime"
    text = (
        f"Layers in the order of the network, on {some}. The table has all layers on all of them, "
        f"with the engine and what binds it.{not_drawn(len(names))}"
    )
    legend = tuple((colour, place) for place, colour in colours.items())
    table = _table(names, layers, placed)
    return [Figure("Layers side by side", text, table, chart, legend, choices=choices)]


def _fastest(placed: Sequence[Place]) -> list[Place]:
    first: dict[str, Place] = {}
    for place, case in placed:
        first.setdefault(case.chip, (place, case))
    return (list(first.values()) if len(first) > 1 else list(placed))[:_DRAWN]


def _us(layers: Mapping[str, LayerCost], name: str) -> float | None:
    return layers[name].us if name in layers else None


def _bars(
    names: Sequence[str],
    layers: Mapping[str, Mapping[str, LayerCost]],
    colours: Mapping[str, str],
    units: Mapping[str, float],
) -> dict[str, list[Any]]:
    """Return the bars: each case has its line in the row of a layer; `units` are in us."""
    keys, height = (*_KEYS[:1], "place", "bound", *_KEYS[1:]), BAR / len(layers)
    bars = []
    for row, name in enumerate(names):
        for line, (place, of_case) in enumerate(layers.items()):
            if (layer := of_case.get(name)) is not None:
                top, bound = (
                    BAR / 2 - row - line * height,
                    f"{layer.bound} on {layer.engine.upper()}",
                )
                ends = (0.0, layer.us / units[place], top - height, top)
                bars.append((name, place, bound, *ends, colours[place]))
    return columns_of(keys, bars)


def _table(
    names: Sequence[str], layers: Mapping[str, Mapping[str, LayerCost]], placed: Sequence[Place]
) -> FigureTable:
    totals = (case.total_inference_us for _, case in placed)
    rows: list[tuple[Any, ...]] = [("(the inference)", "", *totals, *[""] * len(placed))]
    for name in names:
        of_name = [layers[place].get(name) for place, _ in placed]
        kind = next(layer.type for layer in of_name if layer)
        times = [layer and layer.us for layer in of_name]
        bounds = [f"{layer.bound} on {layer.engine.upper()}" if layer else "" for layer in of_name]
        rows.append((name, kind, *times, *bounds))
    places = [place for place, _ in placed]
    header = ("layer", "type", *(f"{place}, us" for place in places))
    return FigureTable((*header, *(f"{place}: bound" for place in places)), rows)


def changed_layers(case: CaseChange) -> Figure | None:
    """Return the layers of a case before and after, the largest changes first; None without any."""
    rows = sorted(case.layers, key=lambda layer: -abs((layer.after or 0.0) - (layer.before or 0.0)))
    if not rows:
        return None
    bars = [
        (layer.name, when, 0.0, value, top - row - BAR / 2, top - row, colour)
        for row, layer in enumerate(rows[:MOST])
        for when, colour, top in (("before", MAIN, BAR / 2), ("after", MARKED, 0.0))
        if (value := getattr(layer, when)) is not None
    ]
    unit = rows[0].unit
    tooltip = (("", "{name}"), ("{when}", f"{{right}} {unit}"))
    names = [layer.name for layer in rows[:MOST]]
    chart = Chart(unit, row_height=2 * _BAR + _BETWEEN, tooltip=tooltip, rows=names)
    chart.begin_bars(max(bar[3] for bar in bars if bar[1] == when) for when in {b[1] for b in bars})
    chart.draw("rects", **columns_of((*_KEYS[:1], "when", *_KEYS[1:]), bars))
    text = f"Before and after, the largest changes first.{not_drawn(len(rows))}"
    legend = ((MAIN, "before"), (MARKED, "after"))
    return Figure("Layers", text, changes_table("layer", rows), chart, legend)


def changes_table(what: str, changes: Sequence[FigureChange]) -> FigureTable:
    """Return figures or layers before and after."""
    units = CHANGE_UNITS if what == "figure" else {}
    rows: list[tuple[Any, ...]] = []
    for change in changes:
        if change.before is None and change.after is None:
            continue
        scale, unit = units.get(change.unit, (1.0, change.unit))
        values = (None if us is None else us * scale for us in (change.before, change.after))
        rows.append((change.name, unit, *values, change.ratio))
    return FigureTable((what, "unit", "before", "after", "after / before"), rows)
