"""The error of each tensor of a runtime against float, in the order of the network."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hexsim.reports.pages.figures.chart import PALETTE, chart, source
from hexsim.reports.pages.figures.figure import Figure, FigureTable
from hexsim.reports.text import number


def errors_figure(facts: Mapping[str, Any]) -> Figure:
    """Return the figure of the data of `hexsim validate --json`: SQNR by tensor."""
    layers = facts["layers"]
    drawn = [(number, row) for number, row in enumerate(layers) if row["sqnr_db"] is not None]
    tooltip = (
        ("", "@name"),
        ("tensor", "@tensor"),
        ("SQNR", "@db{0.0} dB"),
        ("largest error", "@largest{0.0000}"),
    )
    plot = chart("tensors, in the order of the network", "SQNR, dB", tooltip=tooltip)
    columns = {
        "name": [row["layer"] for _, row in drawn],
        "tensor": [row["tensor"] for _, row in drawn],
        "number": [number for number, _ in drawn],
        "db": [row["sqnr_db"] for _, row in drawn],
        "largest": [row["max_error"] for _, row in drawn],
    }
    marks = source(columns)
    plot.line("number", "db", line_color=PALETTE[0], line_alpha=0.5, source=marks)
    style = {"color": PALETTE[0], "fill_alpha": "alpha", "line_alpha": "alpha", "source": marks}
    plot.scatter("number", "db", size=7, **style)
    if layers:
        plot.xaxis.ticker.min_interval = 1
    header = (
        *("layer", "type", "tensor", "runtime", "SQNR dB", "cosine", "largest error"),
        *("added noise", "low", "high", "clipped"),
    )
    keys = (
        *("layer", "type", "tensor", "runtime", "sqnr_db", "cosine", "max_error"),
        *("added_noise", "low", "high", "clipped"),
    )
    exact = len(layers) - len(drawn)
    remark = f" Not drawn: {number(exact, 'tensor')} without any error." if exact else ""
    return Figure(
        "Error by layer",
        f"Signal over noise of every tensor against the float network; more is better.{remark}",
        FigureTable(header, [tuple(row[key] for key in keys) for row in layers]),
        plot,
    )


def ranges_figure(facts: Mapping[str, Any]) -> Figure | None:
    """Return the float range of each tensor with that of its encoding; None without encodings."""
    quantised = [(number, row) for number, row in enumerate(facts["layers"]) if row["encoding"]]
    if not quantised:
        return None
    columns: dict[str, list[Any]] = {
        "name": [row["layer"] for _, row in quantised],
        "tensor": [row["tensor"] for _, row in quantised],
        "number": [number for number, _ in quantised],
        "low": [row["low"] for _, row in quantised],
        "high": [row["high"] for _, row in quantised],
        "min": [row["encoding"]["min"] for _, row in quantised],
        "max": [row["encoding"]["max"] for _, row in quantised],
    }
    tooltip = (
        ("", "@name"),
        ("tensor", "@tensor"),
        ("floats", "@low{0.0000} to @high{0.0000}"),
        ("codes", "@min{0.0000} to @max{0.0000}"),
    )
    plot = chart("tensors, in the order of the network", "value", tooltip=tooltip)
    marks = source(columns)
    style = {"line_color": None, "fill_alpha": "alpha", "source": marks}
    plot.vbar("number", 0.8, "max", "min", fill_color=PALETTE[2], **style)
    plot.vbar("number", 0.4, "high", "low", fill_color=PALETTE[1], **style)
    plot.xaxis.ticker.min_interval = 1
    keys = ("layer", "tensor", "low", "high")
    parts = ("min", "max", "delta", "offset", "bitwidth")
    rows = [
        (*(row[key] for key in keys), *(row["encoding"][part] for part in parts))
        for _, row in quantised
    ]
    header = ("layer", "tensor", "float low", "float high", "code low", "code high")
    return Figure(
        "Ranges and encodings",
        "The floats that were seen, within what the codes of each tensor can say.",
        FigureTable((*header, "step", "offset", "bits"), rows),
        plot,
        ((PALETTE[2], "range of the encoding"), (PALETTE[1], "floats that were seen")),
    )
