"""The pages of the commands."""

from collections.abc import Sequence
from dataclasses import replace

from hexsim.reports.benchmark.recommendation import rank, recommendations
from hexsim.reports.pages.case_figures import (
    case_figures,
    most_time,
    source_of,
    summary,
    total_text,
)
from hexsim.reports.pages.figures.cuts import cut_times, cuts_answer, cuts_figures
from hexsim.reports.pages.figures.figure import Figure, FigureTable
from hexsim.reports.pages.figures.graph import graph_figure
from hexsim.reports.pages.figures.interval import interval_figures
from hexsim.reports.pages.figures.latencies import latencies_figure, throughput_answer, use_figure
from hexsim.reports.pages.figures.layer_times import layer_times
from hexsim.reports.pages.figures.memory import memory_figure
from hexsim.reports.pages.figures.runtimes import runtimes_figure
from hexsim.reports.pages.figures.timeline import timeline, timelines
from hexsim.reports.pages.report import Heading, report
from hexsim.reports.pages.study_figures import (
    findings_figure,
    most_noise,
    output_error,
    remedy_answer,
    validation_figures,
)
from hexsim.results.benchmark import Benchmark, Inference, place_names
from hexsim.results.partition import Partition
from hexsim.results.throughput import Throughput
from hexsim.results.validation import Validation
from hexsim.texts.figures import figure

_LARGE = 6
"""The most cases and networks at the top of a page of a benchmark; a figure has all."""


def profile_page(case: Inference, command: str) -> str:
    """Return the page of one case; it should be of a recorded workload."""
    title = f"{case.network} on {case.chip} {case.runtime}"
    heading = Heading(title, source_of(case), command, summary(case), (most_time(case),))
    figures = case_figures(case) + findings_figure(case.findings)
    return report(heading, figures, _layers([case]))


def bench_page(benchmark: Benchmark, command: str) -> str:
    """Return the page of a benchmark: all times beside each other, then each case."""
    cases, refusals = benchmark.results, benchmark.refused
    networks = list(dict.fromkeys(case.network for case in cases))
    chips = ", ".join(dict.fromkeys(case.chip for case in cases))
    place = place_names([*cases, *refusals])

    def name(case: Inference) -> str:
        return f"{case.network} on {place(case)}" if len(networks) > 1 else place(case)

    ranked = sorted(cases, key=lambda case: (networks.index(case.network), rank(case)))
    figures = [runtimes_figure([(place(case), case) for case in ranked])]
    if refusals:
        rows = [(refusal.network, place(refusal), refusal.reason) for refusal in refusals]
        text = "Networks that a runtime does not take, and why."
        figures.append(Figure("Refused", text, FigureTable(("network", "runtime", "reason"), rows)))
    for network in networks:
        of_network = (case for case in cases if case.network == network)
        losses = findings_figure(loss for case in of_network for loss in case.findings)
        figures += called(network, losses) if len(networks) > 1 else losses
    recorded = {name(case): case.timing for case in ranked if case.timing is not None}
    if len(recorded) > 1:
        figures.append(timelines(recorded))
    for case in ranked:
        charts = [layer_times(case), memory_figure(case.memory), *interval_figures(case)]
        figures += called(name(case), charts)
    first = ranked[0]
    answers = recommendations(cases).splitlines() or [most_time(first)]
    heading = Heading(
        f"{len(networks)} networks on {chips}" if len(networks) > 1 else first.network,
        "; ".join(dict.fromkeys(map(source_of, cases))),
        command,
        tuple((name(case), total_text(case)) for case in ranked)[:_LARGE],
        tuple(answers[:_LARGE]),
    )
    return report(heading, figures, _layers(cases))


def validation_page(answer: Validation, command: str) -> str:
    """Return the page of a validation."""
    title = f"{answer.network} on {answer.chip} {answer.runtime} against float"
    lead = (most_noise(answer.layers), *remedy_answer(answer))
    heading = Heading(title, "; ".join(answer.notes), command, validation_summary(answer), lead)
    by_layer, *others = validation_figures(answer)
    drawn = [] if answer.graph is None else [graph_figure(answer.graph, None, answer.layers)]
    return report(heading, [by_layer, *drawn, *others], (row.layer for row in answer.layers))


def validation_summary(answer: Validation) -> tuple[tuple[str, str], ...]:
    """Return hits and the error of the outputs."""
    hits = answer.hits
    counts = {
        "Same top-1 as float": hits.same_top1,
        "Top-1": hits.runtime_top1,
        "In float": hits.float_top1,
    }
    entries = [(name, f"{n} of {hits.inputs}") for name, n in counts.items() if n is not None]
    return (*entries, output_error(answer.output_sqnr_db, answer.output_sqnr_reference))


def partition_page(cut: Partition, command: str) -> str:
    """Return the page of a cut that was made here."""
    entries = [
        ("Total inference", f"{figure(cut.total_us / 1e3)} ms"),
        ("Subnets", f"{len(cut.pieces)}"),
    ]
    if cut.search is not None:
        entries.append(("Fastest cut", f"{figure(cut.search.best_us / 1e3)} ms"))
    heading = Heading(
        f"{cut.network} on {cut.chip} aip",
        f"{cut.stack}, rules {cut.rules}",
        command,
        tuple(entries),
        cuts_answer(cut),
    )
    layers = (name for piece in cut.pieces for name in piece.layers)
    return report(heading, [cut_times(cut), *cuts_figures(cut)], layers)


def throughput_page(throughput: Throughput, command: str) -> str:
    """Return the page of several instances at once, with the timeline of what was simulated."""
    heading = Heading(
        f"Throughput on {throughput.chip}",
        throughput.stack,
        command,
        (
            ("Inferences per second", figure(throughput.total.inferences_per_second)),
            ("Limited by", throughput.limited_by or "nothing"),
        ),
        (throughput_answer(throughput),),
    )
    figures = [latencies_figure(throughput), use_figure(throughput)]
    return report(heading, figures + ([timeline(timing)] if (timing := throughput.timing) else []))


def called(name: str, figures: Sequence[Figure]) -> list[Figure]:
    """Return the figures with a name before their titles."""
    return [replace(figure, title=f"{name}: {figure.title}") for figure in figures]


def _layers(cases: Sequence[Inference]) -> dict[str, None]:
    """Return the names of all layers, each once."""
    return dict.fromkeys(layer.name for case in cases for layer in case.layers)
