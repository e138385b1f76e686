"""Times as figures: of layers, of runtimes, of calls at once, and what constants change.

Overheads of the call are only in the table of the layers: the longest ones would make their bars
short.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from hexsim.reports.colours import BOUNDS, ENGINES, MAIN, MARKED, SERIES
from hexsim.reports.pages.figures.chart import (
    BarPart,
    Figure,
    FigureTable,
    chart,
    inked,
    layer_bars,
    legend,
    longest,
    name_rows,
    not_drawn,
    source,
    stacked,
)
from hexsim.reports.text import quantity
from hexsim.results.benchmark import Inference
from hexsim.results.costs import ConstantEffect
from hexsim.results.document import plain
from hexsim.results.throughput import PERCENTILES, Throughput
from hexsim.runtimes import MAIN_ENGINE, Engine, Runtime
from hexsim.texts.figures import figure, given

_OVERHEAD = "no layer"


def layer_times(case: Inference) -> Figure:
    """Return the figure of a case: a bar per layer; the table also has the overheads."""
    rows = longest((layer.name, layer.parts_us) for layer in case.layers)
    parts = [part for row, (name, us) in enumerate(rows) for part in stacked(row, name, us, BOUNDS)]
    overheads_us = sum(part.us for part in case.overheads)
    share = overheads_us / (case.total_inference_us or 1.0)
    tooltip = (("time", "@whole{0.0} us"), ("of it", "@what @amount{0.0} us"))
    return Figure(
        "Layers by time",
        "Each bar is a layer, the longest first; its colours show what its time is spent on."
        f"{not_drawn(len(case.layers))} All else takes {figure(overheads_us)} us, {share:.0%} "
        "of the call; the table has its parts.",
        _layer_times_table(case),
        layer_bars("us", [name for name, _ in rows], parts, tooltip),
        legend(parts, BOUNDS),
    )


def _layer_times_table(case: Inference) -> FigureTable:
    header = ("layer", "type", "engine", "us", "share", "bound", "MMAC", "DDR KiB", "cost model")
    total = case.total_inference_us or 1.0
    rows: list[tuple[Any, ...]] = [
        (
            *(layer.name, layer.type, layer.engine, layer.us),
            *(layer.us / total, layer.bound, layer.macs / 1e6),
            *(layer.ddr_bytes / 1024, layer.cost_model),
        )
        for layer in case.layers
    ]
    overheads: list[tuple[Any, ...]] = [
        (f"({part.name})", _OVERHEAD, None, part.us, part.us / total, None, None, None, None)
        for part in case.overheads
    ]
    rows_by_time = [*rows, *overheads]
    rows_by_time.sort(key=lambda row: -row[3])
    return FigureTable(header, rows_by_time)


_ROW, _BORDERS = 30, 80
_ACCURACY = ("sqnr_db", "top1_agreement", "inputs")


def engine_of(runtime: Runtime) -> Engine:
    """Return the engine whose colour a runtime has: that for which an application chooses it."""
    return "hta" if runtime == "aip" else MAIN_ENGINE[runtime]


def runtimes_figure(placed: Sequence[tuple[str, Inference]]) -> Figure:
    """Return a bar per case, the fastest first, with lines for intervals and marks for measured.

    `placed` has the name of the place where a case ran, and the case.
    """
    placed = sorted(placed, key=lambda pair: pair[1].total_inference_us)
    places, cases = [place for place, _ in placed], [case for _, case in placed]
    labels = [f"{case.network} on {place}" for case, place in zip(cases, places, strict=True)]
    rows = [-row for row in range(len(cases))]
    engines = [engine_of(case.runtime) for case in cases]
    columns: dict[str, list[Any]] = {
        "name": labels,
        "row": rows,
        "ms": [case.total_inference_us / 1e3 for case in cases],
        "colour": [ENGINES[engine] for engine in engines],
    }
    plot = chart(
        "ms, total inference",
        "",
        height=_ROW * len(cases) + _BORDERS,
        tooltip=(("", "@name"), ("total inference", "@ms{0.000} ms")),
        y_range=(0.5 - len(cases), 0.5),
    )
    style = {"fill_color": "colour", "line_color": None, "fill_alpha": "alpha"}
    plot.hbar("row", 0.7, "ms", 0, source=source(columns), **style)
    name_rows(plot, labels if len({case.network for case in cases}) > 1 else places)
    legend = [
        (ENGINES[engine], f"simulated, {engine.upper()}") for engine in dict.fromkeys(engines)
    ]
    uncertain = [
        (row, case.uncertainty)
        for row, case in zip(rows, cases, strict=True)
        if case.uncertainty is not None
    ]
    if uncertain:
        intervals = [[us / 1e3 for us in doubt.total_inference_us] for _, doubt in uncertain]
        heights = [[row] * 2 for row, _ in uncertain]
        inked(plot.multi_line(intervals, heights, line_width=2))
        legend.append(("", "its interval"))
    measured = [
        (ms, row)
        for row, case in zip(rows, cases, strict=True)
        for ms in case.measured_ms.total_inference
    ]
    if measured:
        across, up = zip(*measured, strict=True)
        plot.scatter(list(across), list(up), size=9, color=MARKED, marker="diamond")
        legend.append((MARKED, "measured"))
    plot.x_range.start = 0
    text = (
        "Total inference time: what an application waits for. Lines are intervals, which are there "
        "if uncertain constants were varied."
    )
    return Figure("Runtimes", text, _runtimes_table(cases), plot, tuple(legend))


def _runtimes_table(cases: Sequence[Inference]) -> FigureTable:
    header = (
        *("network", "chip", "runtime", "total ms", "low", "high", "forward ms"),
        *("measured total ms", "peak MiB", "SQNR dB", "same top-1", "inputs"),
    )
    rows = []
    for case in cases:
        accuracy = case.accuracy
        interval = case.uncertainty.total_inference_us if case.uncertainty else (None, None)
        rows.append(
            (
                *(case.network, case.chip, case.runtime, case.total_inference_us / 1e3),
                *(None if us is None else us / 1e3 for us in interval),
                case.forward_propagate_us / 1e3,
                " .. ".join(given(ms) for ms in case.measured_ms.total_inference),
                case.memory.peak_bytes / 2**20,
                *(plain(getattr(accuracy, key)) if accuracy else None for key in _ACCURACY),
            )
        )
    return FigureTable(header, rows)


_SIZES = (13, 9, 5)
"""Diameters in px, in turn: of threads that take equally long, all marks can be seen."""


def latencies_figure(throughput: Throughput) -> Figure:
    """Return the figure of the latencies: a point per call."""
    tooltip = (("", "@name"), ("call", "@call"), ("latency", "@ms{0.000} ms"))
    plot = chart("call", "ms", tooltip=tooltip)
    legend: list[tuple[str, str]] = []
    rows: list[tuple[str | int | float | None, ...]] = []
    for number, thread in enumerate(throughput.threads):
        name = f"{number}: {thread.network} on {thread.runtime}, {thread.priority}"
        latencies = [us / 1e3 for us in thread.latencies_us]
        columns: dict[str, list[Any]] = {
            "name": [name] * len(latencies),
            "call": list(range(len(latencies))),
            "ms": latencies,
        }
        marks, colour = source(columns), SERIES[number % len(SERIES)]
        size = _SIZES[number % len(_SIZES)]
        style = {"color": colour, "fill_alpha": "alpha", "line_alpha": "alpha"}
        plot.scatter("call", "ms", size=size, source=marks, **style)
        legend.append((colour, name))
        shares = (us / 1e3 for us in thread.latency_us.values())
        alone = thread.alone.inferences_per_second
        rows.append((name, thread.inferences, thread.inferences_per_second, alone, *shares))
    plot.y_range.start = 0
    header = ("thread", "inferences", "per second", "per second alone")
    return Figure(
        "Latencies",
        "Each point is a call.",
        FigureTable((*header, *(f"{name} ms" for name in PERCENTILES)), rows),
        plot,
        tuple(legend),
    )


def throughput_answer(throughput: Throughput) -> str:
    """Return a sentence on what all threads reach together."""
    total, count = throughput.total.inferences_per_second, len(throughput.threads)
    alone = sum(thread.alone.inferences_per_second for thread in throughput.threads)
    limit = f", limited by {throughput.limited_by}" if throughput.limited_by else ""
    if count == 1:
        return f"One thread reaches {figure(total)} inferences per second{limit}."
    return (
        f"{count} threads together reach {figure(total)} inferences per second{limit}: "
        f"{total / alone:.0%} of what they would reach if each were alone."
    )


def use_figure(throughput: Throughput) -> Figure:
    """Return the figure of the utilisation of each resource."""
    shares = throughput.utilisation
    plot = share_bars("share used", "used", shares)
    text = "How much of its time each part of the phone is busy."
    return Figure(
        "Utilisation", text, FigureTable(("resource", "share"), list(shares.items())), plot
    )


def share_bars(across: str, what: str, shares: Mapping[str, float]) -> Any:
    """Return a chart of shares (0 .. 1) by name, the largest on top."""
    rows = [(name, {what: shares[name]}) for name in sorted(shares, key=lambda name: -shares[name])]
    bars = [part for row, pair in enumerate(rows) for part in stacked(row, *pair, {what: MAIN})]
    plot = layer_bars(across, [name for name, _ in rows], bars, ((what, "@whole{0.0%}"),))
    plot.x_range.end = 1
    return plot


MOST = 20
"""The most constants that are drawn; the table has all."""


def interval_figures(case: Inference) -> list[Figure]:
    """Return the figure of a case whose constants were tried one by one; none for other cases."""
    uncertainty = case.uncertainty
    if uncertainty is None or not uncertainty.constants:
        return []
    low, high = (us / 1e3 for us in uncertainty.total_inference_us)
    nominal = case.total_inference_us / 1e3
    every = uncertainty.swept == "everything"
    drawn = Figure(
        "Interval and constants",
        f"{figure(nominal)} ms, between {figure(low)} and {figure(high)}: the constants that are "
        f"{'assumed or calibrated' if every else 'of the tensor engine'}, "
        "each at both ends of its own interval. The table says who states each.",
        _interval_table(uncertainty.constants),
        _bars(uncertainty.constants, nominal),
        ((MAIN, "from one end of the constant's interval to the other"), (MARKED, "as stated")),
    )
    return [drawn]


def _bars(constants: Sequence[ConstantEffect], nominal: float) -> Any:
    drawn = constants[:MOST]
    parts = []
    for row, constant in enumerate(drawn):
        left, right = sorted(us / 1e3 for us in constant.total_inference_us)
        name = f"{constant.stated_by}: {constant.constant}"
        place = (left, right, -row - 0.35, -row + 0.35)
        parts.append(BarPart(name, f"{figure(left)} to", right, constant.share, *place, MAIN))
    tooltip = (("ms", "@what @amount{0.000}"), ("share", "@whole{0.0%}"))
    plot = layer_bars("ms", [constant.constant for constant in drawn], parts, tooltip)
    plot.line([nominal, nominal], [0.5 - len(drawn), 0.5], line_color=MARKED, line_width=2)
    return plot


def _interval_table(constants: Sequence[ConstantEffect]) -> FigureTable:
    header = (
        *("constant", "stated by", "confidence", "low", "value", "high"),
        *("ms at low", "ms at high", "share", "source"),
    )
    rows: list[tuple[Any, ...]] = []
    for constant in constants:
        low, high = constant.interval
        at_low, at_high = constant.total_inference_us
        sizes = (quantity(value, constant.unit) for value in (low, constant.value, high))
        names = (constant.constant, constant.stated_by, constant.confidence)
        rows.append((*names, *sizes, at_low / 1e3, at_high / 1e3, constant.share, constant.source))
    return FigureTable(header, rows)
