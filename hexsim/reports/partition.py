"""How a network is cut: as text, and drawn from top to bottom.

In the drawing, each layer has the colour of the engine that runs it, and the number of its subnet.
Consecutive subnets of one engine differ in shade.
"""

from collections.abc import Iterator

from hexsim.reports.colours import ENGINES, tint
from hexsim.reports.svg import Box, LegendEntry, layer_box
from hexsim.reports.text import error_lines, number, short_names, table
from hexsim.results.partition import FastestCut, Partition
from hexsim.runtimes import placed
from hexsim.texts.figures import figure

_MOST_REFUSED = 5
_MOST_ON_CPU = 20
_MOST_SUBNETS = 20
_LEAST_US = 1.0
"""What a refused layer costs at least to be called costly."""
_SHADES = (0.4, 0.7)


def partition_text(cut: Partition) -> str:
    """Return the answer and the tables of a cut, and of the fastest if it was searched for."""
    where = placed(cut.network, cut.runtime, cut.chip, cut.precision)
    software = "\n".join((cut.software, *error_lines(cut.expected_errors)))
    if cut.runtime != "aip":
        head = f"{where}\n{software}"
        subnets = [_subnet_table(cut)] if len(cut.pieces) > 1 else []
        return "\n\n".join((head, "\n".join(_of_cpu(cut)), *subnets))
    head = f"{where}\n{cut.software} (rules {cut.rules}); HTA sections: "
    search = f"\n\n{_search_lines(cut.search)}" if cut.search is not None else ""
    left = f"\n\n{text}" if (text := "\n".join(_of_cpu(cut))) and cut.on_cpu else ""
    lines = "\n".join(_lines(cut))
    return f"{head}{cut.sections}\n\n{lines}{left}{search}"


def cpu_sentence(cut: Partition) -> str:
    """Return a sentence on the layers that run on the CPU, and what they cost."""
    return next(_of_cpu(cut))


def _of_cpu(cut: Partition) -> Iterator[str]:
    """Yield which layers run on the CPU, why, what they cost, and what would keep them."""
    count = sum(len(piece.layers) for piece in cut.pieces)
    total_ms, layers = cut.total_us / 1e3, cut.on_cpu
    if not layers:
        engines = ", ".join(dict.fromkeys(piece.engine.upper() for piece in cut.pieces))
        parts = len(cut.pieces) if engines == "HTP" else 1
        change = "values change between codes and other numbers"
        why = f" They are one graph; a subnet ends where {change}." if parts > 1 else ""
        yield f"All {number(count, 'layer')} run on {engines}: {figure(total_ms)} ms.{why}"
        return
    own_us = sum(layer.us for layer in layers)
    crossing_us = sum(layer.to_cpu_us + layer.from_cpu_us for layer in layers)
    share = (own_us + crossing_us) / max(cut.total_us, 1e-9)
    subnets = len({layer.subnet for layer in layers})
    yield (
        f"On the CPU: {len(layers)} of {number(count, 'layer')}, in {number(subnets, 'subnet')} of "
        f"{len(cut.pieces)}. They cost {figure((own_us + crossing_us) / 1e3)} of "
        f"{figure(total_ms)} ms ({share:.0%}): {figure(own_us / 1e3)} ms for themselves, "
        f"{figure(crossing_us / 1e3)} ms for the crossings to the CPU and back."
    )
    names = short_names([layer.layer for layer in layers])
    rows = [
        (
            name, layer.type, f"{layer.subnet}", part_us(layer.us), edge_us(layer.to_cpu_us),
            edge_us(layer.from_cpu_us), part_us(layer.cost_us),
        )
        for name, layer in zip(names, layers, strict=True)
    ]  # fmt: skip
    header = ("layer on the CPU", "type", "subnet", "us", "to CPU us", "back us", "costs us")
    yield "\n" + table(header, rows[:_MOST_ON_CPU], left=frozenset({0, 1}), first_to_go=(2,))
    if len(rows) > _MOST_ON_CPU:
        yield f"and {len(rows) - _MOST_ON_CPU} more, which the JSON file has"
    whys: dict[tuple[str, str, str], list[str]] = {}
    for name, layer in zip(names, layers, strict=True):
        whys.setdefault((layer.type, layer.reason, layer.instead), []).append(name)
    yield ""
    for (type_, reason, instead), of in whys.items():
        runs = f"and {number(len(of) - 1, 'other')} run" if of[1:] else "runs"
        yield f"{type_} '{of[0]}' {runs} on the CPU: {reason}"
        yield f"  What would keep it on the engine: {instead or 'no change is known'}"


def part_us(us: float) -> str:
    """Return a time in a table; of one below a microsecond only that it is."""
    return figure(us) if us >= _LEAST_US else f"< {_LEAST_US:g}"


def edge_us(us: float) -> str:
    """Return the time of a crossing, empty where there is none."""
    return part_us(us) if us else ""


def _subnet_table(cut: Partition) -> str:
    header = ("subnet", "engine", "layers", "first", "last", "us")
    firsts, lasts = (short_names([part.layers[at] for part in cut.pieces]) for at in (0, -1))
    rows = [
        (f"{at}", part.engine, f"{len(part.layers)}", firsts[at], lasts[at], part_us(part.us))
        for at, part in enumerate(cut.pieces)
    ]
    shown = table(header, rows[:_MOST_SUBNETS], left=frozenset({1, 3, 4}))
    more = len(rows) - _MOST_SUBNETS
    return f"{shown}\nand {more} more, which the JSON file has" if more > 0 else shown


def _lines(cut: Partition) -> Iterator[str]:
    macs = max(1, sum(piece.macs for piece in cut.pieces))
    rows = [
        (
            f"{number}", piece.engine, piece.ids, piece.layers[0], piece.layers[-1],
            f"{len(piece.layers)}", f"{piece.macs / macs:.0%}", part_us(piece.us),
        )
        for number, piece in enumerate(cut.pieces)
    ]  # fmt: skip
    without_us = cut.hvx_us or 0.0
    yield (
        f"HTA coverage: {cut.layer_share:.0%} of the layers, {cut.mac_share:.0%} of the "
        f"MACs; {figure(cut.total_us / 1e3)} ms, without HTA {figure(without_us / 1e3)} ms\n"
    )
    header = ("subnet", "engine", "layer ids", "first", "last", "layers", "MACs", "us")
    yield table(header, rows, left=frozenset({1, 2, 3, 4}), first_to_go=(5, 4, 6))
    if cut.cuts:
        cuts = [
            (
                f"{each.after_id}", each.after, f"{len(each.tensors)}", f"{each.bytes}",
                edge_us(each.conversion_us), edge_us(each.dispatch_us), each.reason,
            )
            for each in cut.cuts
        ]  # fmt: skip
        names = ("cut after", "layer", "tensors", "bytes", "conversion us", "dispatch us", "reason")
        yield "\n" + table(names, cuts, left=frozenset({1, 6}))
    yield ""
    yield from _refused(cut)


def _refused(cut: Partition) -> Iterator[str]:
    if not cut.refused:
        yield "The HTA refuses no layer that runs on aip."
        return
    if not (dear := [layer for layer in cut.refused if layer.cost_us >= _LEAST_US]):
        yield (
            f"The HTA refuses {number(len(cut.refused), 'layer')} that run on HVX, and none of "
            "them costs time; the first:"
        )
    else:
        worst = dear[0]
        yield (
            f"Costliest refused layer: {worst.type} '{worst.layer}' (id {worst.id}), "
            f"{figure(worst.cost_us)} us: {worst.reason}"
        )
    rows = [
        (f"{layer.id}", layer.layer, layer.type, part_us(layer.cost_us), layer.reason)
        for layer in cut.refused[:_MOST_REFUSED]
    ]
    if len(cut.refused) > 1 or not dear:
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


def partition_drawing(cut: Partition) -> tuple[list[Box], list[LegendEntry]]:
    """Return the boxes of a cut that was made here, and what their colours mean."""
    network = cut.graph
    assert network is not None
    numbers = {name: number for number, piece in enumerate(cut.pieces) for name in piece.layers}
    boxes = []
    for layer in network.layers:
        number = numbers[layer.name]
        engine = cut.pieces[number].engine
        note = f"subnet {number}"
        fill = tint(ENGINES[engine], _SHADES[number % 2])
        boxes.append(layer_box(layer, network, fill, note=note, said=f", {note}, {engine}"))
    fills = {box.fill for box in boxes}
    engines = dict.fromkeys(piece.engine for piece in cut.pieces)
    shades = {engine: [tint(ENGINES[engine], share) for share in _SHADES] for engine in engines}
    return boxes, [
        LegendEntry(engine.upper(), tuple(shade for shade in shades[engine] if shade in fills))
        for engine in engines
    ]
