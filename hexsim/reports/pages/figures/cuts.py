"""The subnets of a network, the cuts between them with their reasons, and their times."""

from operator import itemgetter

from hexsim.reports.colours import ENGINES
from hexsim.reports.pages.figures.figure import Figure, FigureTable
from hexsim.reports.pages.figures.layer_bars import layer_bars, stacked
from hexsim.reports.partition import partition_svg
from hexsim.results.partition import Partition
from hexsim.texts.figures import figure

_WITHOUT = "without the tensor engine"


def cut_times(cut: Partition) -> Figure:
    """Return the time of this cut, of none, and of the fastest if that was searched for."""
    times = [("this cut", "hta", cut.total_us), (_WITHOUT, "hvx", cut.hvx_us or 0.0)]
    if best := cut.search:
        times.append((f"fastest: {best.best or 'no section'}", "hta", best.best_us))
    times.sort(key=itemgetter(2))
    parts = [
        part
        for row, (name, engine, us) in enumerate(times)
        for part in stacked(row, name, {engine: us / 1e3}, ENGINES)
    ]
    return Figure(
        "Times",
        "An inference with each cut, the fastest first.",
        FigureTable(("cut", "us"), [(name, us) for name, _, us in times]),
        layer_bars("ms", [name for name, *_ in times], parts, [("takes", "@whole{0.00} ms")]),
        ((ENGINES["hta"], "with the tensor engine"), (ENGINES["hvx"], _WITHOUT)),
    )


def cuts_answer(cut: Partition) -> tuple[str, ...]:
    """Return sentences on what the tensor engine does, and on the fastest cut if it is known."""
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


def cuts_figures(cut: Partition) -> tuple[Figure, ...]:
    """Return the figures of a cut that was made here, with the network's drawing."""
    pieces = [
        (number, piece.engine, piece.ids, piece.layers[0], piece.macs / 1e6, piece.us)
        for number, piece in enumerate(cut.pieces)
    ]
    cuts = [
        (
            each.after_id,
            each.after,
            each.reason,
            each.bytes / 1024,
            each.conversion_us,
            each.dispatch_us,
        )
        for each in cut.cuts
    ]
    refused = [
        (layer.id, layer.layer, layer.type, layer.cost_us, layer.reason) for layer in cut.refused
    ]
    figures = [
        Figure(
            "Subnets",
            "Each box is a layer, in the colour of its engine. The tensor engine has "
            f"{cut.layer_share:.0%} of the layers and {cut.mac_share:.0%} of the "
            "multiply-adds.",
            FigureTable(("subnet", "engine", "ids", "first layer", "MMAC", "us"), pieces),
            drawing=partition_svg(cut),
        )
    ]
    if cuts:
        text = "Each place where one engine hands over to another, and why there."
        header = ("id", "behind layer", "reason", "KiB", "conversion us", "dispatch us")
        figures.append(Figure("Cuts", text, FigureTable(header, cuts)))
    if refused:
        text = "Layers that the tensor engine refuses, with what that costs the inference."
        columns = ("id", "layer", "type", "costs us", "reason")
        figures.append(Figure("Refused layers", text, FigureTable(columns, refused)))
    return tuple(figures)
