"""The page on a model on one chip, runtime by runtime."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from hexsim.graph.ir import Network
from hexsim.quantization.model import Model
from hexsim.reports.benchmark.recommendation import recommendations
from hexsim.reports.pages.case_figures import Summary, case_figures, most_time, source_of, summary
from hexsim.reports.pages.command_pages import called
from hexsim.reports.pages.figures.cuts import cuts_figures
from hexsim.reports.pages.figures.figure import Figure, FigureTable
from hexsim.reports.pages.figures.graph import graph_figure
from hexsim.reports.pages.figures.histograms import histograms_figure
from hexsim.reports.pages.figures.runtimes import runtimes_figure
from hexsim.reports.pages.figures.timeline import timelines
from hexsim.reports.pages.report import Heading, report
from hexsim.reports.pages.study_figures import most_noise, validation_figures
from hexsim.results.benchmark import Inference, Refusal
from hexsim.results.partition import Partition
from hexsim.results.validation import Validation

_OF_SEVERAL = ("Total inference", "Peak memory", "SQNR")
"""Beginnings of the names of the figures that stand on top of a page on several runtimes."""


@dataclass(frozen=True)
class OnRuntime:
    """The results of a model on one runtime; None for results that were not requested.

    `cut` is the partition of the network on aip.
    """

    case: Inference
    study: Validation | None = None
    cut: Partition | None = None


def model_page(
    results: Sequence[OnRuntime],
    refusals: Sequence[Refusal],
    model: Model,
    command: str,
) -> str:
    """Return the document; it counts the weights of `model`.

    `results` has at least one runtime.
    """
    first = results[0].case
    several = len(results) > 1
    figures = []
    if several:
        figures.append(runtimes_figure([(result.case.runtime, result.case) for result in results]))
        timings = {case.runtime: case.timing for case in (result.case for result in results)}
        figures.append(timelines({name: timing for name, timing in timings.items() if timing}))
    if refusals:
        rows = [(refusal.runtime, refusal.reason) for refusal in refusals]
        text = "Runtimes that do not take the model, and why."
        figures.append(Figure("Refused", text, FigureTable(("runtime", "reason"), rows)))
    for result in results:
        charts = _figures(result, model.network)
        figures += called(result.case.runtime, charts) if several else charts
    weights = histograms_figure(model)
    heading = Heading(
        f"{first.network} on {first.chip}",
        source_of(first),
        command,
        _summary(results, several),
        tuple(_answers(results)),
    )
    layers = dict.fromkeys(layer.name for layer in model.network.layers)
    return report(heading, [*figures, *([weights] if weights else [])], layers)


def _answers(results: Sequence[OnRuntime]) -> Iterator[str]:
    """Yield the fastest runtime, then for each runtime what takes its time and adds its noise."""
    yield from recommendations([result.case for result in results]).splitlines()
    for result in results:
        prefix = f"{result.case.runtime}: " if len(results) > 1 else ""
        yield prefix + most_time(result.case)
        if result.study is not None:
            yield prefix + most_noise(result.study.layers)


def _figures(result: OnRuntime, network: Network) -> list[Figure]:
    figures = case_figures(result.case)
    errors = () if result.study is None else result.study.layers
    figures.append(graph_figure(network, result.case.timing, errors))
    if result.cut is not None:
        figures += cuts_figures(result.cut)
    if result.study is not None:
        figures += validation_figures(result.study)
    return figures


def _summary(results: Sequence[OnRuntime], several: bool) -> Summary:
    """Return the main figures of each runtime; with several, each begins with its runtime."""
    entries: list[tuple[str, str]] = []
    for result in results:
        prefix = f"{result.case.runtime}: " if several else ""
        for name, value in summary(result.case):
            if not several or name.startswith(_OF_SEVERAL):
                entries.append((f"{prefix}{name}", value))
        if result.cut is not None:
            entries.append((f"{prefix}Subnets", f"{len(result.cut.pieces)}"))
    return tuple(entries)
