"""How a network is cut: as text, and drawn from top to bottom.

In the drawing, each layer has the colour of the engine that runs it, and the number of its subnet.
Consecutive subnets of one engine differ in shade.
"""

from collections.abc import Iterator

from hexsim.reports.colours import ENGINES, tint
from hexsim.reports.svg import Box, LegendEntry, network_svg, shapes_of
from hexsim.reports.text import table
from hexsim.results.partition import FastestCut, Partition
from hexsim.texts.figures import figure

_MOST_REFUSED = 5
_SHADES = (0.4, 0.7)


def partition_text(cut: Partition) -> str:
    """Return the tables of a cut, and of the fastest if it was searched for."""
    if cut.runtime != "aip":
        head = f"{cut.network} on {cut.chip} {cut.runtime}, {cut.software}\n"
        return f"{head}\n{_subnet_table(cut)}"
    head = f"{cut.network} on {cut.chip} aip, {cut.software} (rules {cut.rules}); HTA sections: "
    search = f"\n\n{_search_lines(cut.search)}" if cut.search is not None else ""
    lines = "\n".join(_lines(cut))
    return f"{head}{cut.sections}\n\n{lines}{search}"


def _subnet_table(cut: Partition) -> str:
    """Return a row per subnet of a runtime without sections, and a line per layer it refuses."""
    header = ("subnet", "engine", "layers", "first", "last")
    rows = [
        (f"{at}", part.engine, f"{len(part.layers)}", part.layers[0], part.layers[-1])
        for at, part in enumerate(cut.pieces)
    ]
    refused = [
        f"layer '{layer.layer}' ({layer.type}) runs on the CPU: {layer.reason}"
        for layer in cut.refused
    ]
    return "\n".join((table(header, rows, left=frozenset({1, 3, 4})), *refused))


def _lines(cut: Partition) -> Iterator[str]:
    macs = max(1, sum(piece.macs for piece in cut.pieces))
    rows = [
        (
            f"{number}", piece.engine, piece.ids, piece.layers[0], piece.layers[-1],
            f"{len(piece.layers)}", f"{piece.macs / macs:.0%}", figure(piece.us),
        )
        for number, piece in enumerate(cut.pieces)
    ]  # fmt: skip
    header = ("subnet", "engine", "layer ids", "first", "last", "layers", "MACs", "us")
    yield table(header, rows, left=frozenset({1, 2, 3, 4}), first_to_go=(5, 4, 6))
    if cut.cuts:
        cuts = [
            (
                f"{each.after_id}", each.after, f"{len(each.tensors)}", f"{each.bytes}",
                figure(each.conversion_us), figure(each.dispatch_us), each.reason,
            )
            for each in cut.cuts
        ]  # fmt: skip
        names = ("cut after", "layer", "tensors", "bytes", "conversion us", "dispatch us", "reason")
        yield "\n" + table(names, cuts, left=frozenset({1, 6}))
    without_us = cut.hvx_us or 0.0
    yield (
        f"\nHTA coverage: {cut.layer_share:.0%} of the layers, {cut.mac_share:.0%} of the "
        f"MACs; {figure(cut.total_us / 1e3)} ms, without HTA {figure(without_us / 1e3)} ms"
    )
    yield from _refused(cut)


def _refused(cut: Partition) -> Iterator[str]:
    if not cut.refused:
        yield "The HTA refuses no layer that runs on aip."
        return
    worst = cut.refused[0]
    yield (
        f"Costliest refused layer: {worst.type} '{worst.layer}' (id {worst.id}), "
        f"{figure(worst.cost_us or 0.0)} us: {worst.reason}"
    )
    rows = [
        (f"{layer.id}", layer.layer, layer.type, figure(layer.cost_us or 0.0), layer.reason)
        for layer in cut.refused[:_MOST_REFUSED]
    ]
    if len(cut.refused) > 1:
        header = ("id", "refused layer", "type", "costs us", "reason")
        yield "\n" + table(header, rows, left=frozenset({1, 2, 4}))
    if len(cut.refused) > _MOST_REFUSED:
        yield f"and {len(cut.refused) - _MOST_REFUSED} more"


def _search_lines(search: FastestCut) -> str:
    """Return the cuts that the search compared, and the gain of the fastest."""
    rows = [
        ("fastest", search.best or "-", figure(search.best_us / 1e3)),
        ("default", search.default or "-", figure(search.default_us / 1e3)),
        ("no HTA", "-", figure(search.hvx_us / 1e3)),
    ]
    text = table(("cut", "HTA sections", "ms"), rows, left=frozenset({0, 1}))
    if search.best == search.default:
        return f"{text}\nThe default cut is the fastest."
    return (
        f"{text}\nThe fastest cut gains {figure(search.gain.value)}x over the default, "
        f"{figure(search.gain.low)} to {figure(search.gain.high)}x when the constants "
        "of engine and hand-over are swept"
    )


def partition_svg(cut: Partition) -> str:
    """Return the drawing of a cut that was made here, as an SVG document."""
    network = cut.graph
    assert network is not None
    numbers = {name: number for number, piece in enumerate(cut.pieces) for name in piece.layers}
    boxes = []
    for layer in network.layers:
        number = numbers[layer.name]
        engine = cut.pieces[number].engine
        note = f"{layer.type}, subnet {number}"
        boxes.append(
            Box(
                layer.name,
                note,
                f"{layer.name}: {note}, {engine}",
                tint(ENGINES[engine], _SHADES[number % 2]),
                layer.inputs,
                layer.outputs,
                shapes_of(layer, network),
            )
        )
    fills = {box.fill for box in boxes}
    engines = dict.fromkeys(piece.engine for piece in cut.pieces)
    shades = {engine: [tint(ENGINES[engine], share) for share in _SHADES] for engine in engines}
    legend = [
        LegendEntry(engine.upper(), tuple(shade for shade in shades[engine] if shade in fills))
        for engine in engines
    ]
    return network_svg(boxes, legend)
