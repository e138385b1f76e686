"""The network as a drawing whose boxes show time, engine or error, as a reader chooses."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from hexsim.accuracy.validation import Validation
from hexsim.graph.ir import Network
from hexsim.reports.colours import BAD, ENGINES, MAIN, tint
from hexsim.reports.network.svg import Box, network_svg
from hexsim.reports.pages.figures.figure import Figure, FigureTable, Paint
from hexsim.reports.partition.svg import shapes_of
from hexsim.timing.results import Result

_NONE = "#f1f1f1"
"""The colour of a box that has no figure."""
_LIGHTEST, _DARKEST = 0.06, 0.75
"""Shares of the colour in tints for amounts; the text of a box is dark."""


def graph_figure(
    network: Network, result: Result | None, validation: Validation | None
) -> Figure | None:
    """Return the drawing; None if no result has figures of its layers."""
    names = [layer.name for layer in network.layers]
    paints = {} if result is None else result_paints(names, result)
    if validation is not None:
        noise = {row.layer: 10 ** (-row.sqnr_db / 20) for row in validation.layers}
        paints["error"] = amounts_paint(names, noise, BAD, lambda share: f"{share:.1%} noise")
    if not paints:
        return None
    notes = (paint.notes for paint in paints.values())
    return Figure(
        "Network",
        "Each box is a layer; below it is the shape that it writes. Choose what its colour shows.",
        FigureTable(("layer", *paints), list(zip(names, *notes, strict=True))),
        drawing=network_svg(
            [
                Box(
                    *(layer.name, layer.type, f"{layer.name}: {layer.type}", _NONE),
                    *(layer.inputs, layer.outputs, shapes_of(layer, network)),
                )
                for layer in network.layers
            ]
        ),
        paints=paints,
    )


def result_paints(names: Sequence[str], result: Result) -> dict[str, Paint]:
    """Return the paints of time and engine; boxes called `names` that are no layers have none."""
    us = {layer.name: layer.us for layer in result.layers}
    engines = {layer.name: layer.engine for layer in result.layers}
    fills = {engine: tint(ENGINES[engine], _DARKEST) for engine in engines.values()}
    return {
        "time": amounts_paint(names, us, MAIN, lambda value: f"{value:.1f} us"),
        "engine": Paint(
            tuple(fills[engines[name]] if name in engines else _NONE for name in names),
            tuple(engines.get(name, "").upper() for name in names),
            tuple((fill, engine.upper()) for engine, fill in fills.items()),
        ),
    }


def amounts_paint(
    names: Sequence[str],
    amounts: Mapping[str, float],
    colour: str,
    told: Callable[[float], str],
) -> Paint:
    """Return tints that are darkest at the largest amount; `told` writes an amount."""
    most = max((amounts[name] for name in names if name in amounts), default=0.0) or 1.0

    def shade(share: float) -> str:
        return tint(colour, _LIGHTEST + (_DARKEST - _LIGHTEST) * share)

    fills = tuple(shade(amounts[name] / most) if name in amounts else _NONE for name in names)
    notes = tuple(told(amounts[name]) if name in amounts else "" for name in names)
    legend = tuple((shade(part), told(part * most)) for part in (0.0, 0.5, 1.0))
    return Paint(fills, notes, legend)
