"""Times as figures: of layers, of runtimes, of calls at once, and what constants change.

Overheads of the call are only in the table of the layers: the longest ones would make their bars
short.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from hexsim.reports.colours import BOUNDS, ENGINES, MAIN, MARKED, SERIES
from hexsim.reports.pages.figures.chart import (
    BarPart,
    Chart,
    Columns,
    Figure,
    FigureTable,
    layer_bars,
    legend,
    longest,
    not_drawn,
    of_layer,
    part_name,
    stacked,
    table_of,
)
from hexsim.reports.summary import one_sided
from hexsim.reports.text import quantity
from hexsim.results.benchmark import Inference
from hexsim.results.costs import ConstantEffect
from hexsim.results.document import plain
from hexsim.results.throughput import PERCENTILES, Throughput
from hexsim.runtimes import MAIN_ENGINE, Engine
from hexsim.texts.figures import figure, given


def layer_times(case: Inference) -> Figure:
    """Return the figure of a case: a bar per layer; the table also has the overheads."""
    rows = longest((layer.name, layer.parts_us) for layer in case.layers)
    parts = [part for row, (name, us) in enumerate(rows) for part in stacked(row, name, us, BOUNDS)]
    overheads_us = sum(part.us for part in case.overheads)
    share = overheads_us / (case.total_inference_us or 1.0)
    tooltip = (("time", "{whole} us"), ("of it", "{what} {amount} us"))
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
    columns: Columns = {
        **{"layer": part_name, "type": of_layer("type", otherwise="no layer")},
        **{"engine": of_layer("engine"), "us": "us"},
        "share": lambda part: part.us / (case.total_inference_us or 1.0),
        **{"bound": of_layer("bound"), "MMAC": of_layer("macs", 1e6)},
        **{"DDR KiB": of_layer("ddr_bytes", 1024), "cost model": of_layer("cost_model")},
        "why on the CPU": of_layer("cpu_reason"),
        "would keep it on the engine": of_layer("instead"),
    }
    parts = [*case.layers, *case.overheads]
    return table_of(sorted(parts, key=lambda part: -part.us), columns)


_ROW = 30


def engine_of(case: Inference) -> Engine:
    """Return the engine whose colour a case has: that for which its runtime is chosen.

    If no layer runs there, it is the engine of most layers.
    """
    engines = Counter(layer.engine for layer in case.layers)
    chosen: Engine = "hta" if case.runtime == "aip" else MAIN_ENGINE[case.runtime]
    return chosen if chosen in engines or not engines else engines.most_common(1)[0][0]


def runtimes_figure(placed: Sequence[tuple[str, Inference]]) -> Figure:
    """Return a bar per case, the fastest first, with lines for intervals and marks for measured.

    `placed` has the name of the place where a case ran, and the case.
    """
    placed = sorted(placed, key=lambda pair: pair[1].total_inference_us)
    places, cases = [place for place, _ in placed], [case for _, case in placed]
    labels = [f"{case.network} on {place}" for case, place in zip(cases, places, strict=True)]
    rows = [-row for row in range(len(cases))]
    engines = list(map(engine_of, cases))
    drawn = Chart(
        "ms, total inference",
        row_height=_ROW,
        tooltip=(("", "{name}"), ("total inference", "{right} ms")),
        rows=labels if len({case.network for case in cases}) > 1 else places,
    )
    drawn.begin_bars(case.total_inference_us for case in cases)
    drawn.draw(
        "rects",
        name=labels,
        left=0.0,
        right=[case.total_inference_us / 1e3 for case in cases],
        bottom=[row - 0.35 for row in rows],
        top=[row + 0.35 for row in rows],
        colour=[ENGINES[engine] for engine in engines],
    )
    legend = [
        (ENGINES[engine], f"simulated, {engine.upper()}") for engine in dict.fromkeys(engines)
    ]
    uncertain = {row: us for row, case in zip(rows, cases, strict=True) if (us := case.interval_us)}
    if uncertain:
        low, high = ([us[end] / 1e3 for us in uncertain.values()] for end in (0, 1))
        drawn.draw("segments", x0=low, x1=high, y0=[*uncertain], y1=[*uncertain], colour="")
        legend.append(("", "its interval"))
    measured = [
        (ms, row)
        for row, case in zip(rows, cases, strict=True)
        for ms in case.measured_ms.total_inference
    ]
    if measured:
        across, up = zip(*measured, strict=True)
        drawn.draw("points", x=across, y=up, size=9, colour=MARKED, shape="diamond")
        legend.append((MARKED, "measured"))
    text = " ".join(("Total inference time: what an application waits for.", *one_sided(cases)))
    return Figure("Runtimes", text, table_of(cases, _RUNTIMES), drawn, tuple(legend))


_RUNTIMES: Columns = {
    "network": "network",
    "chip": "chip",
    "runtime": "runtime",
    "total ms": "total_ms",
    "low": lambda case: case.interval_us and case.interval_us[0] / 1e3,
    "high": lambda case: case.interval_us and case.interval_us[1] / 1e3,
    "forward ms": lambda case: case.forward_propagate_us / 1e3,
    "measured total ms": lambda case: " .. ".join(map(given, case.measured_ms.total_inference)),
    "peak MiB": lambda case: case.memory.peak_bytes / 2**20,
    "SQNR dB": lambda case: case.accuracy and plain(case.accuracy.sqnr_db),
    "same top-1": lambda case: case.accuracy and case.accuracy.top1_agreement,
    "inputs": lambda case: case.accuracy and case.accuracy.inputs,
}


_SIZES = (13, 9, 5)
"""Diameters in px, in turn: of threads that take equally long, all marks can be seen."""


def latencies_figure(throughput: Throughput) -> Figure:
    """Return the figure of the latencies: a point per call."""
    tooltip = (("", "{name}"), ("call", "{x}"), ("latency", "{y} ms"))
    plot = Chart("call", "ms", tooltip=tooltip, y=(0.0, None))
    legend: list[tuple[str, str]] = []
    rows: list[tuple[str | int | float | None, ...]] = []
    for number, thread in enumerate(throughput.threads):
        name = f"{number}: {thread.network} on {thread.runtime}, {thread.priority}"
        latencies = [us / 1e3 for us in thread.latencies_us]
        calls, colour = list(range(len(latencies))), SERIES[number % len(SERIES)]
        size = _SIZES[number % len(_SIZES)]
        plot.draw("points", name=name, x=calls, y=latencies, size=size, colour=colour)
        legend.append((colour, name))
        shares = (us / 1e3 for us in thread.latency_us.values())
        alone = thread.alone.inferences_per_second
        rows.append((name, thread.inferences, thread.inferences_per_second, alone, *shares))
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


def share_bars(across: str, what: str, shares: Mapping[str, float]) -> Chart:
    """Return a chart of shares (0 .. 1) by name, the largest on top."""
    rows = [(name, {what: shares[name]}) for name in sorted(shares, key=lambda name: -shares[name])]
    bars = [part for row, pair in enumerate(rows) for part in stacked(row, *pair, {what: MAIN})]
    plot = layer_bars(across, [name for name, _ in rows], bars, ((what, "{whole%}"),))
    plot.x = (0.0, 1.0)
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
        f"{figure(nominal)} ms, between {figure(low)} and {figure(high)}"
        f"{' by draws of all constants at once' if every else ''}. Drawn: the constants that are "
        f"{'assumed or calibrated' if every else 'of the tensor engine'}, "
        "each at both ends of its own interval. The table says who states each.",
        _interval_table(uncertainty.constants),
        _bars(uncertainty.constants, nominal),
        ((MAIN, "from one end of the constant's interval to the other"), (MARKED, "as stated")),
    )
    return [drawn]


def _bars(constants: Sequence[ConstantEffect], nominal: float) -> Chart:
    drawn = constants[:MOST]
    parts = []
    for row, constant in enumerate(drawn):
        left, right = sorted(us / 1e3 for us in constant.total_inference_us)
        name = f"{constant.stated_by}: {constant.constant}"
        place = (left, right, -row - 0.35, -row + 0.35)
        parts.append(BarPart(name, f"{figure(left)} to", right, constant.share, *place, MAIN))
    tooltip = (("ms", "{what} {amount}"), ("share", "{whole%}"))
    plot = layer_bars("ms", [constant.constant for constant in drawn], parts, tooltip)
    plot.draw("rules", x=nominal, colour=MARKED, dash=())
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
