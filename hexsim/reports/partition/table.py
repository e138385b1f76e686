"""How a network is cut, as text: subnets, cuts, share of the HTA, refused layers, fastest cut."""

from collections.abc import Iterator, Sequence

from hexsim.graph.ir import Network
from hexsim.planning.subnet import Subnet
from hexsim.reports.text import table
from hexsim.studies.cuts import FastestCut, Survey
from hexsim.texts.figures import figure

_MOST_REFUSED = 5


def subnet_table(subnets: Sequence[Subnet]) -> str:
    """Return a row per subnet of a runtime without sections, and a line per layer it refuses."""
    header = ("subnet", "engine", "layers", "first", "last")
    rows = [
        (f"{at}", part.engine, f"{len(part.layers)}", part.layers[0].name, part.layers[-1].name)
        for at, part in enumerate(subnets)
    ]
    refused = [
        f"layer '{layer.name}' ({layer.type}) runs on the CPU: {part.reason}"
        for part in subnets
        if part.engine == "cpu"
        for layer in part.layers
    ]
    return "\n".join((table(header, rows, left=frozenset({1, 3, 4})), *refused))


def partition_table(network: Network, survey: Survey) -> str:
    """Return the tables of one cut."""
    return "\n".join(_lines(network, survey))


def _lines(network: Network, survey: Survey) -> Iterator[str]:
    macs = max(1, network.total_macs)
    rows = [
        (
            f"{number}", piece.engine, piece.ids, piece.layers[0], piece.layers[-1],
            f"{len(piece.layers)}", f"{piece.macs / macs:.0%}", figure(piece.us),
        )
        for number, piece in enumerate(survey.pieces)
    ]  # fmt: skip
    header = ("subnet", "engine", "layer ids", "first", "last", "layers", "MACs", "us")
    yield table(header, rows, left=frozenset({1, 2, 3, 4}), first_to_go=(5, 4, 6))
    if survey.cuts:
        cuts = [
            (
                f"{cut.after_id}", cut.after, f"{len(cut.tensors)}", f"{cut.bytes}",
                figure(cut.conversion_us), figure(cut.dispatch_us), cut.reason,
            )
            for cut in survey.cuts
        ]  # fmt: skip
        names = ("cut after", "layer", "tensors", "bytes", "conversion us", "dispatch us", "reason")
        yield "\n" + table(names, cuts, left=frozenset({1, 6}))
    yield (
        f"\nHTA coverage: {survey.layer_share:.0%} of the layers, {survey.mac_share:.0%} of the "
        f"MACs; {figure(survey.total_us / 1e3)} ms, without HTA {figure(survey.hvx_us / 1e3)} ms"
    )
    yield from _refused(survey)


def _refused(survey: Survey) -> Iterator[str]:
    if not survey.refused:
        yield "The HTA refuses no layer that runs on aip."
        return
    worst = survey.refused[0]
    yield (
        f"Costliest refused layer: {worst.type} '{worst.layer}' (id {worst.id}), "
        f"{figure(worst.cost_us)} us: {worst.reason}"
    )
    rows = [
        (f"{layer.id}", layer.layer, layer.type, figure(layer.cost_us), layer.reason)
        for layer in survey.refused[:_MOST_REFUSED]
    ]
    if len(survey.refused) > 1:
        header = ("id", "refused layer", "type", "costs us", "reason")
        yield "\n" + table(header, rows, left=frozenset({1, 2, 4}))
    if len(survey.refused) > _MOST_REFUSED:
        yield f"and {len(survey.refused) - _MOST_REFUSED} more"


def search_lines(search: FastestCut) -> str:
    """Return the cuts that the search compared, and the gain of the fastest."""
    rows = [
        ("fastest", search.best_ids or "-", figure(search.best_us / 1e3)),
        ("default", search.default_ids or "-", figure(search.default_us / 1e3)),
        ("no HTA", "-", figure(search.hvx_us / 1e3)),
    ]
    text = table(("cut", "HTA sections", "ms"), rows, left=frozenset({0, 1}))
    if search.best == search.default:
        return f"{text}\nThe default cut is the fastest."
    return (
        f"{text}\nThe fastest cut gains {figure(search.gain)}x over the default, "
        f"{figure(search.low)} to {figure(search.high)}x when the constants "
        "of engine and hand-over are swept"
    )
