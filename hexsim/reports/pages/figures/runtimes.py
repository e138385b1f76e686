"""Times of networks on runtimes, with their intervals and measured times."""

from collections.abc import Sequence
from typing import Any

from hexsim.reports.colours import ENGINES, MARKED
from hexsim.reports.pages.figures.chart import chart, inked, name_rows, source
from hexsim.reports.pages.figures.figure import Figure, FigureTable
from hexsim.results.benchmark import Inference
from hexsim.results.document import plain
from hexsim.runtimes import MAIN_ENGINE, Engine, Runtime
from hexsim.texts.figures import given

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
    return Figure("Runtimes", text, _table(cases), plot, tuple(legend))


def _table(cases: Sequence[Inference]) -> FigureTable:
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
