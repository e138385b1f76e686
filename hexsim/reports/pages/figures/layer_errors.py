"""How far each tensor of a runtime is from float, in the order of the network."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hexsim.reports.pages.figures.chart import PALETTE, chart, source
from hexsim.reports.pages.figures.figure import Figure, FigureTable
from hexsim.reports.text import number


def errors_figure(found: Mapping[str, Any]) -> Figure:
    """Return the figure of what `hexsim validate --json` has: signal over noise by tensor."""
    layers = found["layers"]
    drawn = [(number, row) for number, row in enumerate(layers) if row["sqnr_db"] is not None]
    told = (
        ("", "@name"),
        ("tensor", "@tensor"),
        ("SQNR", "@db{0.0} dB"),
        ("largest error", "@largest{0.0000}"),
    )
    made = chart("tensors, in the order of the network", "SQNR, dB", told=told)
    columns = {
        "name": [row["layer"] for _, row in drawn],
        "tensor": [row["tensor"] for _, row in drawn],
        "number": [number for number, _ in drawn],
        "db": [row["sqnr_db"] for _, row in drawn],
        "largest": [row["max_error"] for _, row in drawn],
    }
    marks = source(columns)
    made.line("number", "db", line_color=PALETTE[0], line_alpha=0.5, source=marks)
    look = {"color": PALETTE[0], "fill_alpha": "alpha", "line_alpha": "alpha", "source": marks}
    made.scatter("number", "db", size=7, **look)
    if layers:
        made.xaxis.ticker.min_interval = 1
    header = (
        *("layer", "type", "tensor", "runtime", "SQNR dB", "cosine", "largest error"),
        *("added noise", "low", "high", "clipped"),
    )
    keys = (
        *("layer", "type", "tensor", "runtime", "sqnr_db", "cosine", "max_error"),
        *("added_noise", "low", "high", "clipped"),
    )
    exact = len(layers) - len(drawn)
    whole = f" Not drawn: {number(exact, 'tensor')} without any error." if exact else ""
    return Figure(
        "Error by layer",
        f"Signal over noise of every tensor against the float network; more is better.{whole}",
        FigureTable(header, [tuple(row[key] for key in keys) for row in layers]),
        made,
    )


def ranges_figure(found: Mapping[str, Any]) -> Figure | None:
    """Return the float range of each tensor with the range of its codes; None without codes."""
    coded = [(n, row) for n, row in enumerate(found["layers"]) if row["encoding"]]
    if not coded:
        return None
    columns: dict[str, list[Any]] = {
        "name": [row["layer"] for _, row in coded],
        "tensor": [row["tensor"] for _, row in coded],
        "number": [number for number, _ in coded],
        "low": [row["low"] for _, row in coded],
        "high": [row["high"] for _, row in coded],
        "min": [row["encoding"]["min"] for _, row in coded],
        "max": [row["encoding"]["max"] for _, row in coded],
    }
    told = (
        ("", "@name"),
        ("tensor", "@tensor"),
        ("floats", "@low{0.0000} to @high{0.0000}"),
        ("codes", "@min{0.0000} to @max{0.0000}"),
    )
    made = chart("tensors, in the order of the network", "value", told=told)
    marks = source(columns)
    look = {"line_color": None, "fill_alpha": "alpha", "source": marks}
    made.vbar("number", 0.8, "max", "min", fill_color=PALETTE[2], **look)
    made.vbar("number", 0.4, "high", "low", fill_color=PALETTE[1], **look)
    made.xaxis.ticker.min_interval = 1
    keys = ("layer", "tensor", "low", "high")
    parts = ("min", "max", "delta", "offset", "bitwidth")
    rows = [
        (*(row[key] for key in keys), *(row["encoding"][part] for part in parts))
        for _, row in coded
    ]
    header = ("layer", "tensor", "float low", "float high", "code low", "code high")
    return Figure(
        "Ranges and encodings",
        "The floats that were seen, within what the codes of each tensor can say.",
        FigureTable((*header, "step", "offset", "bits"), rows),
        made,
        ((PALETTE[2], "range of the encoding"), (PALETTE[1], "floats that were seen")),
    )
