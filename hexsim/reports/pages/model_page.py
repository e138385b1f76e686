"""The page on a model: everything about it on one chip, runtime by runtime."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from hexsim.accuracy.study import Study
from hexsim.deployment.platform import Platform
from hexsim.quantization.model import Model
from hexsim.reports.benchmark_json import case_facts
from hexsim.reports.pages.case_figures import Summary, case_figures, source_of, summary
from hexsim.reports.pages.command_pages import called, validation_figures
from hexsim.reports.pages.figures.cuts import cuts_figures
from hexsim.reports.pages.figures.figure import Figure, FigureTable
from hexsim.reports.pages.figures.histograms import histograms_figure
from hexsim.reports.pages.figures.runtimes import runtimes_figure
from hexsim.reports.pages.report import Heading, report
from hexsim.reports.partition_json import partition_facts
from hexsim.reports.partition_svg import partition_svg
from hexsim.studies.benchmark import Case, Refusal
from hexsim.studies.cuts import Prices, Survey


@dataclass(frozen=True)
class OnRuntime:
    """What was found out about a model on one runtime; None is what was not asked, or is not there.

    `cut` is how aip cuts the network, with the prices that it follows from.
    """

    case: Case
    study: Study | None = None
    cut: tuple[Prices, Survey] | None = None


def model_page(
    found: Sequence[OnRuntime],
    refusals: Sequence[Refusal],
    model: Model,
    platform: Platform,
    command: str,
) -> str:
    """Return the document; `model` is what the weights are counted of, quantised if there is one.

    `found` has at least one runtime.
    """
    first = found[0].case
    several = len(found) > 1
    figures = [runtimes_figure([case_facts(one.case) for one in found])]
    if refusals:
        rows = [(refusal.runtime, refusal.reason) for refusal in refusals]
        text = "Runtimes that do not take the model, and why."
        figures.append(Figure("Refused", text, FigureTable(("runtime", "reason"), rows)))
    for one in found:
        of_one = _figures(one, platform)
        figures += called(one.case.runtime, of_one) if several else of_one
    weights = histograms_figure(model)
    heading = Heading(
        f"{first.network} on {first.chip}", source_of(first), command, _summary(found, several)
    )
    layers = dict.fromkeys(layer.name for layer in model.network.layers)
    return report(heading, [*figures, *([weights] if weights else [])], layers)


def _figures(one: OnRuntime, platform: Platform) -> list[Figure]:
    figures = case_figures(one.case, platform)
    if one.cut is not None:
        prices, survey = one.cut
        drawing = partition_svg(prices.times.network, survey)
        figures += cuts_figures(partition_facts(prices, survey), drawing)
    if one.study is not None:
        figures += validation_figures(one.study)
    return figures


def _summary(found: Sequence[OnRuntime], several: bool) -> Summary:
    """The figures of each runtime in short; of several, each begins with its name."""
    told: list[tuple[str, str]] = []
    for one in found:
        prefix = f"{one.case.runtime}: " if several else ""
        told += [(f"{prefix}{name}", value) for name, value in summary(case_facts(one.case))]
        if one.cut is not None:
            told.append((f"{prefix}Subnets", f"{len(one.cut[1].pieces)}"))
    return tuple(told)
