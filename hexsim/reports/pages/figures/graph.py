"""The network as a drawing whose boxes show time, engine or error, as a reader chooses."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from hexsim.accuracy.validation import Validation
from hexsim.graph.ir import Network
from hexsim.reports.colours import BAD, ENGINE_NAMES, ENGINES, MAIN, tint
from hexsim.reports.network_svg import Box, network_svg
from hexsim.reports.pages.figures.figure import Figure, FigureTable, Paint
from hexsim.reports.partition_svg import shapes_of
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
    paints: dict[str, Paint] = {}
    if result is not None:
        us = {layer.name: layer.us for layer in result.layers}
        paints["time"] = amounts_paint(names, us, MAIN, lambda value: f"{value:.1f} us")
        engines = {layer.name: layer.engine for layer in result.layers}
        paints["engine"] = Paint(
            tuple(
                tint(ENGINES[engines[name]], _DARKEST) if name in engines else _NONE
                for name in names
            ),
            tuple(ENGINE_NAMES[engines[name]] if name in engines else "" for name in names),
            tuple((ENGINES[e], ENGINE_NAMES[e]) for e in dict.fromkeys(engines.values())),
        )
    if validation is not None:
        noise = {row.layer: 10 ** (-row.sqnr_db / 20) for row in validation.layers}
        decibels = {row.layer: row.sqnr_db for row in validation.layers}
        painted = amounts_paint(names, noise, BAD, lambda value: f"{value:.1%} noise")
        notes = tuple(f"{decibels[name]:.1f} dB" if name in decibels else "" for name in names)
        paints["error"] = Paint(painted.fills, notes, painted.legend)
    if not paints:
        return None
    rows = [
        (name, *(paint.notes[number] for paint in paints.values()))
        for number, name in enumerate(names)
    ]
    return Figure(
        "Network",
        "Each box is a layer; below it is the shape that it writes. Choose what its colour shows.",
        FigureTable(("layer", *paints), rows),
        drawing=_drawing(network, next(iter(paints.values()))),
        paints=paints,
    )


def amounts_paint(
    names: Sequence[str],
    amounts: Mapping[str, float],
    colour: str,
    told: Callable[[float], str],
) -> Paint:
    """Return tints that are darkest at the largest amount; `told` writes an amount."""
    most = max((amounts[name] for name in names if name in amounts), default=0.0)
    shades = {
        share: tint(colour, _LIGHTEST + (_DARKEST - _LIGHTEST) * share) for share in (0.0, 0.5, 1.0)
    }
    fills = tuple(
        tint(colour, _LIGHTEST + (_DARKEST - _LIGHTEST) * amounts[name] / (most or 1.0))
        if name in amounts
        else _NONE
        for name in names
    )
    notes = tuple(told(amounts[name]) if name in amounts else "" for name in names)
    return Paint(
        fills, notes, tuple((shade, told(share * most)) for share, shade in shades.items())
    )


def _drawing(network: Network, paint: Paint) -> str:
    return network_svg(
        [
            Box(
                layer.name,
                note,
                f"{layer.name}: {layer.type}",
                fill,
                layer.inputs,
                layer.outputs,
                shapes_of(layer, network),
            )
            for layer, fill, note in zip(network.layers, paint.fills, paint.notes, strict=True)
        ]
    )
