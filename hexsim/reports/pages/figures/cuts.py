"""The subnets of a network, the cuts between them with their reasons, and their times."""

from collections.abc import Mapping
from operator import itemgetter
from typing import Any

from hexsim.reports.colours import ENGINES
from hexsim.reports.pages.figures.figure import Figure, FigureTable
from hexsim.reports.pages.figures.layer_bars import layer_bars, stacked
from hexsim.texts.figures import figure

_WITHOUT = "without the tensor engine"


def cut_times(facts: Mapping[str, Any]) -> Figure:
    """Return the time of this cut, of none, and of the fastest if that was searched for."""
    times = [("this cut", "hta", facts["total_us"]), (_WITHOUT, "hvx", facts["hvx_us"])]
    if "search" in facts:
        best = facts["search"]
        times.append((f"fastest: {best['best'] or 'no section'}", "hta", best["best_us"]))
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


def cuts_answer(facts: Mapping[str, Any]) -> tuple[str, ...]:
    """Return sentences on what the tensor engine does, and on the fastest cut if it is known."""
    total, without = facts["total_us"], facts["hvx_us"]
    if not facts["mac_share"]:
        answer = f"The tensor engine runs no multiply-adds: {figure(total / 1e3)} ms."
    else:
        how = "faster" if total < without else "slower"
        answer = (
            f"The tensor engine runs {facts['mac_share']:.0%} of the multiply-adds: "
            f"{figure(total / 1e3)} ms, {how} than the {figure(without / 1e3)} ms without it."
        )
    if "search" not in facts:
        return (answer,)
    best = facts["search"]
    cut = f"sections {best['best']}" if best["best"] else "no section"
    return answer, f"Of all legal cuts the fastest has {cut}: {figure(best['best_us'] / 1e3)} ms."


def cuts_figures(facts: Mapping[str, Any], drawing: str) -> tuple[Figure, ...]:
    """Return the figures of the data of `hexsim partition --json`, with the network's drawing."""
    pieces = [
        (number, sub["engine"], sub["ids"], sub["layers"][0], sub["macs"] / 1e6, sub["us"])
        for number, sub in enumerate(facts["pieces"])
    ]
    cuts = [
        (
            cut["after_id"],
            cut["after"],
            cut["reason"],
            cut["bytes"] / 1024,
            cut["conversion_us"],
            cut["dispatch_us"],
        )
        for cut in facts["cuts"]
    ]
    refused = [
        (layer["id"], layer["layer"], layer["type"], layer["cost_us"], layer["reason"])
        for layer in facts["refused"]
    ]
    figures = [
        Figure(
            "Subnets",
            "Each box is a layer, in the colour of its engine. The tensor engine has "
            f"{facts['layer_share']:.0%} of the layers and {facts['mac_share']:.0%} of the "
            "multiply-adds.",
            FigureTable(("subnet", "engine", "ids", "first layer", "MMAC", "us"), pieces),
            drawing=drawing,
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
