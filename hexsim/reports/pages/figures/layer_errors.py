"""The error of each tensor of a runtime against float, and how much of its codes is used."""

import math
from collections.abc import Sequence
from operator import attrgetter
from typing import Any

from hexsim.quantization.encodings import Encoding
from hexsim.reports.colours import BAD, ENCODING, MAIN, MARKED
from hexsim.reports.pages.figures.chart import chart, name_columns, source
from hexsim.reports.pages.figures.figure import Figure, FigureTable
from hexsim.reports.text import number
from hexsim.results.validation import TensorError
from hexsim.texts.figures import figure

_HEIGHT = 420
"""With room for the names of layers, in px."""
_WORST = 5
"""The number of tensors whose layers add most noise, which are marked."""


def errors_figure(layers: Sequence[TensorError]) -> Figure:
    """Return the figure of the SQNR by tensor."""
    drawn = [(number, row) for number, row in enumerate(layers) if row.sqnr_db is not None]
    worst = sorted(layers, key=lambda row: -row.noise)[:_WORST]
    tooltip = (
        ("", "@name"),
        ("tensor", "@tensor"),
        ("SQNR", "@db{0.0} dB"),
        ("largest error", "@largest{0.0000}"),
    )
    plot = chart("", "SQNR, dB", height=_HEIGHT, tooltip=tooltip)
    columns: dict[str, list[Any]] = {
        "name": [row.layer for _, row in drawn],
        "tensor": [row.tensor for _, row in drawn],
        "number": [number for number, _ in drawn],
        "db": [row.sqnr_db for _, row in drawn],
        "largest": [row.max_error for _, row in drawn],
        "colour": [MARKED if any(row is other for other in worst) else MAIN for _, row in drawn],
    }
    marks = source(columns)
    plot.line("number", "db", line_color=MAIN, line_alpha=0.5, source=marks)
    style = {"color": "colour", "fill_alpha": "alpha", "line_alpha": "alpha", "source": marks}
    plot.scatter("number", "db", size=7, **style)
    name_columns(plot, [row.layer for row in layers])
    header = {
        **{key: key for key in ("layer", "type", "tensor", "runtime")},
        **{"SQNR dB": "sqnr_db", "cosine": "cosine", "largest error": "max_error"},
        **{"added noise": "added_noise", "low": "low", "high": "high", "clipped": "clipped"},
    }
    exact = len(layers) - len(drawn)
    remark = f" Not drawn: {number(exact, 'tensor')} without any error." if exact else ""
    return Figure(
        "Error by layer",
        "Signal over noise of every tensor against the float network, in the order of the network; "
        f"more is better.{remark}",
        FigureTable(tuple(header), [attrgetter(*header.values())(row) for row in layers]),
        plot,
        ((MARKED, "adds most noise"), (MAIN, "others")),
    )


def ranges_figure(layers: Sequence[TensorError]) -> Figure | None:
    """Return the share of its codes that each tensor uses; None without encodings."""
    quantised = [(row, row.encoding) for row in layers if row.encoding]
    if not quantised:
        return None
    shares = [_shares(row, encoding) for row, encoding in quantised]
    columns: dict[str, list[Any]] = {
        "name": [row.layer for row, _ in quantised],
        "tensor": [row.tensor for row, _ in quantised],
        "number": list(range(len(quantised))),
        **{key: [getattr(row, key) for row, _ in quantised] for key in ("low", "high")},
        **{key: [getattr(each, key) for _, each in quantised] for key in ("min", "max")},
        "first": [max(0.0, first) for first, _ in shares],
        "last": [min(1.0, last) for _, last in shares],
        "below": [min(0.0, first) for first, _ in shares],
        "above": [max(1.0, last) for _, last in shares],
        "bits": [_headroom(pair) for pair in shares],
    }
    tooltip = (
        *(("", "@name"), ("tensor", "@tensor"), ("floats", "@low{0.0000} to @high{0.0000}")),
        *(("codes", "@min{0.0000} to @max{0.0000}"), ("headroom", "@bits{0.00} bits")),
    )
    plot = chart("", "range of the codes", height=_HEIGHT, tooltip=tooltip)
    marks = source(columns)
    style = {"line_color": None, "fill_alpha": "alpha", "source": marks}
    for bottom, top, colour in ((0, 1, ENCODING), (1, "above", BAD), ("below", 0, BAD)):
        plot.vbar("number", 0.8, top, bottom, fill_color=colour, **style)
    plot.vbar("number", 0.8, "last", "first", fill_color=MAIN, **style)
    plot.yaxis.formatter.use_scientific = False
    name_columns(plot, columns["name"])
    of_row = attrgetter("layer", "tensor", "low", "high")
    of_encoding = attrgetter("min", "max", "delta", "offset", "bitwidth")
    rows = [
        (*of_row(row), *of_encoding(encoding), bits)
        for (row, encoding), bits in zip(quantised, columns["bits"], strict=True)
    ]
    header = ("layer", "tensor", "float low", "float high", "code low", "code high")
    return Figure(
        "Ranges and headroom",
        "The floats that were seen, within the range of the codes of their tensor: 0 is the lowest "
        f"code and 1 the highest. {_most_headroom(columns)}",
        FigureTable((*header, "step", "offset", "bits", "headroom in bits"), rows),
        plot,
        (
            (MAIN, "floats that were seen"),
            (ENCODING, "headroom: codes that nothing used"),
            (BAD, "floats beyond the codes: clipped"),
        ),
    )


def _shares(row: TensorError, encoding: Encoding) -> tuple[float, float]:
    """Return where the floats begin and end in the range of the codes, which is 0 .. 1."""
    span = (encoding.max - encoding.min) or 1.0
    first, last = row.seen
    return (first - encoding.min) / span, (last - encoding.min) / span


def _headroom(shares: tuple[float, float]) -> float:
    """Return how many bits fewer the codes would need if their range were that of the floats."""
    first, last = max(0.0, shares[0]), min(1.0, shares[1])
    return -math.log2(last - first) if last > first else 0.0


def _most_headroom(columns: dict[str, list[Any]]) -> str:
    bits, ends = columns["bits"], zip(columns["below"], columns["above"], strict=True)
    most = bits.index(max(bits))
    beyond = number(sum(low < 0 or high > 1 for low, high in ends), "tensor")
    return (
        f"Most headroom has {columns['name'][most]}, {figure(bits[most])} bits. {beyond} had "
        "floats beyond the codes."
    )
