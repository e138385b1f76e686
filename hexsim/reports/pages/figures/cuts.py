"""Where a network is cut into subnets, why, and what each takes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hexsim.reports.pages.figures.figure import Figure, FigureTable


def cuts_figures(found: Mapping[str, Any], drawing: str) -> tuple[Figure, ...]:
    """Return the figures of what `hexsim partition --json` has, with the drawing of the network."""
    pieces = [
        (number, one["engine"], one["ids"], one["layers"][0], one["macs"] / 1e6, one["us"])
        for number, one in enumerate(found["pieces"])
    ]
    cuts = [
        (
            one["after_id"],
            one["after"],
            one["reason"],
            one["bytes"] / 1024,
            one["conversion_us"],
            one["dispatch_us"],
        )
        for one in found["cuts"]
    ]
    refused = [
        (one["id"], one["layer"], one["type"], one["cost_us"], one["reason"])
        for one in found["refused"]
    ]
    figures = [
        Figure(
            "Subnets",
            "Each box is a layer, in the colour of its engine. The tensor engine has "
            f"{found['layer_share']:.1%} of the layers and {found['mac_share']:.1%} of the "
            "multiply-adds. "
            f"{found['total_us'] / 1e3:.2f} ms, without it {found['hvx_us'] / 1e3:.2f} ms.",
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
