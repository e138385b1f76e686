"""The network as a drawing whose boxes show time, engine or error; its subnets and their cuts."""

import math
from collections.abc import Callable, Mapping, Sequence
from operator import itemgetter
from typing import Any

from hexsim.graph.ir import Network
from hexsim.reports.colours import BAD, ENGINES, MAIN, tint
from hexsim.reports.pages.figures.chart import (
    Columns,
    Figure,
    FigureTable,
    Paint,
    layer_bars,
    stacked,
    table_of,
)
from hexsim.reports.partition import cpu_sentence, edge_us, part_us, partition_drawing
from hexsim.reports.svg import layer_box, network_svg
from hexsim.results.accuracy import as_db
from hexsim.results.partition import Partition
from hexsim.results.validation import TensorError
from hexsim.texts.figures import figure
from hexsim.timing.results import Result

_NONE = "#f1f1f1"
"""The colour of a box that has no figure."""
_LIGHTEST, _DARKEST = 0.06, 0.75
"""Shares of the colour in tints for amounts; the text of a box is dark."""
_CLEAN_DB = 50.0
"""The SQNR of the lightest box of an error, more than which no runtime of 8 bits reaches for long;
the darkest box has as much noise as signal."""


def graph_figure(
    network: Network, result: Result | None, errors: Sequence[TensorError] = ()
) -> Figure:
    """Return the drawing of what is known: times and engines of `result`, `errors` of tensors."""
    names = [layer.name for layer in network.layers]
    paints = result_paints(names, result, errors)
    choose = " Choose what its colour shows." if len(paints) > 1 else ""
    notes = (paint.notes for paint in paints.values())
    return Figure(
        "Network",
        f"Each box is a layer; below it is the shape that it writes.{choose}",
        FigureTable(("layer", *paints), list(zip(names, *notes, strict=True))),
        drawing=network_svg([layer_box(layer, network, _NONE) for layer in network.layers]),
        paints=paints,
    )


def result_paints(
    names: Sequence[str], result: Result | None, errors: Sequence[TensorError] = ()
) -> dict[str, Paint]:
    """Return the paints of time and engine, and of errors, for boxes called `names`."""
    paints = {}
    if result is not None:
        us = {layer.name: layer.us for layer in result.layers}
        engines = {layer.name: layer.engine for layer in result.layers}
        fills = {engine: tint(ENGINES[engine], _DARKEST) for engine in engines.values()}
        paints["time"] = amounts_paint(names, us, MAIN, lambda value: f"{figure(value)} us")
        paints["engine"] = Paint(
            tuple(fills[engines[name]] if name in engines else _NONE for name in names),
            tuple(engines.get(name, "").upper() for name in names),
            tuple((fill, engine.upper()) for engine, fill in fills.items()),
        )
    if errors:
        paints["error"] = _errors_paint(names, errors)
    return paints


def _errors_paint(names: Sequence[str], errors: Sequence[TensorError]) -> Paint:
    """Return tints by the SQNR of the worst tensor of a layer; darker is worse."""
    worst: dict[str, float] = {}
    for row in errors:
        worst[row.layer] = min(as_db(row.sqnr_db), worst.get(row.layer, math.inf))

    def fill(db: float) -> str:
        return _shade(BAD, 1 - min(max(db / _CLEAN_DB, 0.0), 1.0))

    def note(db: float) -> str:
        return "no error" if math.isinf(db) else f"{figure(db)} dB"

    ends = ((_CLEAN_DB, f"SQNR of {_CLEAN_DB:.0f} dB or more"), (0.0, "0 dB or less: all is noise"))
    return Paint(
        tuple(fill(worst[name]) if name in worst else _NONE for name in names),
        tuple(note(worst[name]) if name in worst else "" for name in names),
        tuple((fill(db), text) for db, text in (ends[0], (_CLEAN_DB / 2, "25 dB"), ends[1])),
    )


def amounts_paint(
    names: Sequence[str], amounts: Mapping[str, float], colour: str, text: Callable[[float], str]
) -> Paint:
    """Return tints that are darkest at the largest amount; `text` writes an amount."""
    most = max((amounts[name] for name in names if name in amounts), default=0.0) or 1.0
    fills = tuple(
        _shade(colour, amounts[name] / most) if name in amounts else _NONE for name in names
    )
    notes = tuple(text(amounts[name]) if name in amounts else "" for name in names)
    legend = tuple((_shade(colour, part), text(part * most)) for part in (0.0, 0.5, 1.0))
    return Paint(fills, notes, legend)


def _shade(colour: str, share: float) -> str:
    """Return a tint that is darkest for a share of 1; lightness alone tells shares apart."""
    return tint(colour, _LIGHTEST + (_DARKEST - _LIGHTEST) * share)


_WITHOUT = "without the tensor engine"


def cut_times(cut: Partition) -> list[Figure]:
    """Return the time of this cut, of none, and of the fastest if that was searched for.

    There is no figure where there is nothing to compare with.
    """
    if cut.hvx_us is None:
        return []
    times = [("this cut", "hta" if cut.mac_share else "hvx", cut.total_us)]
    if cut.mac_share:
        times.append((_WITHOUT, "hvx", cut.hvx_us))
    if (best := cut.search) and best.best:
        times.append((f"fastest: {best.best}", "hta", best.best_us))
    if len(times) < 2:
        return []
    times.sort(key=itemgetter(2))
    parts = [
        part
        for row, (name, engine, us) in enumerate(times)
        for part in stacked(row, name, {engine: us / 1e3}, ENGINES)
    ]
    bars = layer_bars("ms", [name for name, *_ in times], parts, [("takes", "{whole} ms")])
    bars.begin_bars(us for _, _, us in times)
    table = FigureTable(("cut", "us"), [(name, us) for name, _, us in times])
    legend = ((ENGINES["hta"], "with the tensor engine"), (ENGINES["hvx"], _WITHOUT))
    text = "An inference with each cut, the fastest first."
    return [Figure("Times", text, table, bars, legend)]


def cuts_answer(cut: Partition) -> tuple[str, ...]:
    """Return sentences on what runs on the CPU, or what the tensor engine does and how fast.

    The fastest cut is added if it is known.
    """
    if cut.runtime != "aip":
        return (cpu_sentence(cut),)
    total, without = cut.total_us, cut.hvx_us or 0.0
    if not cut.mac_share:
        answer = f"The tensor engine runs no multiply-adds: {figure(total / 1e3)} ms."
    else:
        how = "faster" if total < without else "slower"
        answer = (
            f"The tensor engine runs {cut.mac_share:.0%} of the multiply-adds: "
            f"{figure(total / 1e3)} ms, {how} than the {figure(without / 1e3)} ms without it."
        )
    if (best := cut.search) is None:
        return (answer,)
    sections = f"sections {best.best}" if best.best else "no section"
    return answer, f"Of all legal cuts the fastest has {sections}: {figure(best.best_us / 1e3)} ms."


def _us(key: str, text: Callable[[float], str] = part_us) -> Callable[[Any], str]:
    return lambda row: text(getattr(row, key))


_PIECES: Columns = {
    "subnet": lambda piece: piece[0],
    **{"engine": lambda piece: piece[1].engine, "ids": lambda piece: piece[1].ids},
    "first layer": lambda piece: piece[1].layers[0],
    **{"MMAC": lambda piece: piece[1].macs / 1e6, "us": lambda piece: part_us(piece[1].us)},
}
_CUTS: Columns = {
    **{"id": "after_id", "behind layer": "after", "reason": "reason"},
    "KiB": lambda each: each.bytes / 1024,
    "conversion us": _us("conversion_us", edge_us),
    "dispatch us": _us("dispatch_us", edge_us),
}
_ON_CPU: Columns = {
    **{"layer": "layer", "type": "type", "subnet": "subnet", "us": _us("us")},
    "to the CPU us": _us("to_cpu_us", edge_us),
    **{"back us": _us("from_cpu_us", edge_us), "costs us": _us("cost_us")},
    **{"reason": "reason", "would keep it on the engine": "instead"},
}
_LEFT = (
    "Layers that the engine leaves to the CPU, the costliest first: their own time, the crossings "
    "to the CPU and back, why, and a change that would keep them on the engine."
)
_REFUSED: Columns = {
    **{"id": "id", "layer": "layer", "type": "type", "costs us": _us("cost_us")},
    "reason": "reason",
}
_REFUSALS = "Layers that the tensor engine refuses, with what that costs the inference."


def cuts_figures(cut: Partition) -> tuple[Figure, ...]:
    """Return the figures of a cut that was made here, with the network's drawing."""
    engine = "tensor engine" if cut.runtime == "aip" else f"engine of {cut.runtime}"
    boxes, meanings = partition_drawing(cut)
    figures = [
        Figure(
            "Subnets",
            f"Each box is a layer, in the colour of its engine. The {engine} has "
            f"{cut.layer_share:.0%} of the layers and {cut.mac_share:.0%} of the "
            "multiply-adds.",
            table_of(enumerate(cut.pieces), _PIECES),
            legend=tuple((fill, entry.text) for entry in meanings for fill in entry.fills),
            drawing=network_svg(boxes),
        )
    ]
    for title, text, rows, columns in (
        ("Cuts", "Each place where one engine hands over to another, and why.", cut.cuts, _CUTS),
        ("On the CPU", _LEFT, cut.on_cpu, _ON_CPU),
        ("Refused layers", _REFUSALS, cut.refused, _REFUSED),
    ):
        if rows:
            figures.append(Figure(title, text, table_of(rows, columns)))
    return tuple(figures)
