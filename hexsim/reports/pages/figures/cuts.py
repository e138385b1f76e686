"""The subnets of a network, the cuts between them with their reasons, and their times."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hexsim.reports.pages.figures.figure import Figure, FigureTable


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
            f"{facts['layer_share']:.1%} of the layers and {facts['mac_share']:.1%} of the "
            "multiply-adds. "
            f"{facts['total_us'] / 1e3:.2f} ms, without it {facts['hvx_us'] / 1e3:.2f} ms.",
            FigureTable(("subnet", "engine", "ids", "first layer", "MMAC", "us"), pieces),
            drawing=drawing,
        )
    ]
    if cuts:
        text = "Each place where one engine hands over to another, and why there."
        header = ("id", "behind layer", "reason", "kB", "conversion us", "dispatch us")
        figures.append(Figure("Cuts", text, FigureTable(header, cuts)))
    if refused:
        text = "Layers that the tensor engine refuses, with what that costs the inference."
        columns = ("id", "layer", "type", "costs us", "reason")
        figures.append(Figure("Refused layers", text, FigureTable(columns, refused)))
    return tuple(figures)
