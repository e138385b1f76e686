"""The pages of the commands: a summary, and the figures of what a command found."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from hexsim.graph.ir import Network
from hexsim.reports.colours import SERIES
from hexsim.reports.differences import CHANGE_UNITS
from hexsim.reports.inference import millijoules
from hexsim.reports.pages.figures import costs, side_by_side, times, validation
from hexsim.reports.pages.figures.chart import (
    Chart,
    Figure,
    FigureTable,
    layer_bars,
    most_of,
    stacked,
)
from hexsim.reports.pages.figures.network import cut_times, cuts_answer, cuts_figures, graph_figure
from hexsim.reports.pages.figures.timeline import timeline, timelines
from hexsim.reports.pages.figures.weights import histograms_figure
from hexsim.reports.pages.page import Heading, report
from hexsim.reports.studies import llm_headline, llm_sections, llm_title
from hexsim.reports.summary import fallbacks, largest_part, total_text, verdicts
from hexsim.reports.text import number
from hexsim.results.accuracy import sqnr_label
from hexsim.results.benchmark import Benchmark, Inference, place_names
from hexsim.results.comparison import Comparison
from hexsim.results.language_model import LanguageModel
from hexsim.results.overview import Overview
from hexsim.results.partition import Partition
from hexsim.results.throughput import Throughput
from hexsim.results.validation import Validation
from hexsim.runtimes import placed
from hexsim.texts.figures import figure, percent, size

_THICK = 44
"""The height of a row with the parts of a token, in px."""
Summary = tuple[tuple[str, str], ...]


def case_figures(case: Inference) -> list[Figure]:
    """Return all figures of a case; a timeline and a roofline only if it has them."""
    figures = [times.layer_times(case)]
    if case.timing is not None:
        figures.append(timeline(case.timing))
    if case.roofline is not None:
        figures.append(costs.roofline_figure(case.roofline))
    traffic = costs.traffic_figure(case)
    figures += [costs.memory_figure(case.memory), *([traffic] if traffic else ())]
    return [*figures, costs.energy_figure(case), *times.interval_figures(case)]


def most_time(case: Inference) -> tuple[str, ...]:
    """Return sentences on what takes most time of a case, its longest layers, those of the CPU."""
    us_of = {layer.name: layer.us for layer in case.layers}
    layers = most_of(us_of, case.total_inference_us, "of the inference")
    if not case.total_inference_us:
        return (layers,)
    part = largest_part(case)
    on_cpu = (f"On the CPU: {text}." for text in fallbacks(case))
    return f"{part[0].upper()}{part[1:]}.", layers, *on_cpu


def summary(case: Inference) -> Summary:
    """Return the main figures of a case."""
    accuracy = case.accuracy
    engines = Counter(layer.engine for layer in case.layers)
    entries = [
        ("Total inference", total_text(case)),
        ("Forward propagate", f"{figure(case.forward_propagate_us / 1e3)} ms"),
        ("Initialisation", f"{figure(case.initialisation_total_us / 1e3)} ms"),
        ("Peak memory", size(case.memory.peak_bytes)),
        ("Energy", f"{figure(case.energy.mj)} mJ"),
        ("Layers", ", ".join(f"{count} on {engine.upper()}" for engine, count in engines.items())),
    ]
    if accuracy and accuracy.sqnr_db is not None:
        db, count = figure(accuracy.sqnr_db), len(accuracy.outputs)
        text = f"{db} dB, the worst of {count}" if count > 1 else f"{db} dB"
        text += ", does not count" if case.judged_db > accuracy.sqnr_db else ""
        entries.append((sqnr_label(accuracy.sqnr_reference), text))
    if accuracy and accuracy.top1_agreement is not None:
        entries.append(("Same top-1 as float", f"{accuracy.top1_agreement} of {accuracy.inputs}"))
    if accuracy and accuracy.top1_right is not None:
        entries.append(("Right top-1", f"{accuracy.top1_right} of {accuracy.inputs}"))
    return tuple(entries)


def source_of(case: Inference) -> str:
    """Return the platform and settings of a case as text."""
    return f"{case.chip}, {case.stack}, {case.perf_profile}, {case.buffer} buffers"


_LARGE = 6
"""The most cases and networks at the top of a page of a benchmark; a figure has all."""


def profile_page(case: Inference, command: str) -> str:
    """Return the page of one case; it should be of a recorded workload."""
    title = placed(case.network, case.runtime, case.chip, case.precision)
    heading = Heading(title, source_of(case), command, summary(case), most_time(case))
    figures = case_figures(case) + validation.findings_figure(case.findings)
    return report(heading, figures, _layers([case]))


def bench_page(benchmark: Benchmark, command: str) -> str:
    """Return the page of a benchmark: all times beside each other, then each case."""
    cases, refusals = benchmark.results, benchmark.refused
    networks = list(dict.fromkeys(case.network for case in cases))
    chips = ", ".join(dict.fromkeys(case.chip for case in cases))
    place = place_names([*cases, *refusals])

    def name(case: Inference) -> str:
        return f"{case.network} on {place(case)}" if len(networks) > 1 else place(case)

    ranked = sorted(cases, key=lambda case: (networks.index(case.network), case.rank))
    figures = [times.runtimes_figure([(place(case), case) for case in ranked])]
    figures += _refused((refusal.network, place(refusal), refusal.reason) for refusal in refusals)
    for network in networks:
        of_network = (case for case in cases if case.network == network)
        losses = validation.findings_figure(loss for case in of_network for loss in case.findings)
        figures += called(network if len(networks) > 1 else "", losses)
    for network in networks:
        beside = [(place(case), case) for case in ranked if case.network == network]
        figures += called(network if len(networks) > 1 else "", side_by_side.side_by_side(beside))
    recorded = {name(case): case.timing for case in ranked if case.timing is not None}
    if len(recorded) > 1:
        figures.append(timelines(recorded))
    for case in ranked:
        charts = [
            times.layer_times(case),
            costs.memory_figure(case.memory),
            *times.interval_figures(case),
        ]
        figures += called(name(case), charts)
    first = ranked[0]
    answers = verdicts(cases).splitlines() or most_time(first)
    heading = Heading(
        f"{len(networks)} networks on {chips}" if len(networks) > 1 else first.network,
        "; ".join(dict.fromkeys(map(source_of, cases))),
        command,
        tuple((name(case), total_text(case)) for case in ranked)[:_LARGE],
        tuple(answers[:_LARGE]),
    )
    return report(heading, figures, _layers(cases))


def comparison_page(comparison: Comparison, command: str) -> str:
    """Return the page of a comparison: figures and layers of each case, before and after."""
    figures, layers = [], list[str]()
    for case in comparison.cases:
        changed = ", ".join(f"{c.name}: {c.before} -> {c.after}" for c in case.conditions)
        text = f"Conditions that differ: {changed}." if changed else "No other condition differs."
        parts = [Figure("Figures", text, side_by_side.changes_table("figure", case.figures))]
        parts += [drawn] if (drawn := side_by_side.changed_layers(case)) else []
        figures += called(case.name, parts)
        layers += [layer.name for layer in case.layers]
    for what, places in (("Gone", comparison.only_before), ("New", comparison.only_after)):
        if places:
            rows = [(place,) for place in places]
            figures.append(Figure(what, "In one result only.", FigureTable(("case",), rows)))
    versions = ", ".join(dict.fromkeys(comparison.versions))
    heading = Heading(
        f"{number(len(comparison.versions), 'result')} compared",
        f"made by hexsim {versions}" if "," in versions else "",
        command,
        _changes(comparison),
        _largest_change(comparison),
    )
    return report(heading, figures, layers)


def _largest_change(comparison: Comparison) -> tuple[str, ...]:
    """Return a sentence on the case whose main time changed most."""
    case = max(comparison.cases, key=lambda case: abs(case.slower), default=None)
    if case is None or not case.slower:
        return ("No time changed." if case else "Nothing is in both results.",)
    return (f"Most changed {case.name}: {case.figures[0].name} {percent(case.slower, '+')}.",)


def _changes(comparison: Comparison) -> Summary:
    """Return the main figure of the first cases, before and after."""
    return tuple(
        (
            f"{case.name}: {main.name}",
            f"{figure(main.before * scale)} to {figure(main.after * scale)} {unit}",
        )
        for case in comparison.cases[:_LARGE]
        for main in case.figures[:1]
        for scale, unit in [CHANGE_UNITS.get(main.unit, (1.0, main.unit))]
        if main.before is not None and main.after is not None
    )


def validation_page(answer: Validation, command: str) -> str:
    """Return the page of a validation."""
    title = (
        f"{placed(answer.network, answer.runtime, answer.chip, answer.precision)}, against float"
    )
    lead = (validation.most_noise(answer.layers), *validation.remedy_answer(answer))
    heading = Heading(title, "; ".join(answer.notes), command, validation_summary(answer), lead)
    by_layer, *others = validation.validation_figures(answer)
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
    return (*entries, validation.output_error(answer.output_sqnr_db, answer.output_sqnr_reference))


def partition_page(cut: Partition, command: str) -> str:
    """Return the page of a cut that was made here."""
    entries = [
        ("Total inference", f"{figure(cut.total_us / 1e3)} ms"),
        ("Subnets", f"{len(cut.pieces)}"),
    ]
    if cut.search is not None:
        entries.append(("Fastest cut", f"{figure(cut.search.best_us / 1e3)} ms"))
    heading = Heading(
        placed(cut.network, cut.runtime, cut.chip, cut.precision),
        f"{cut.stack}, rules {cut.rules}" if cut.runtime == "aip" else cut.stack,
        command,
        tuple(entries),
        cuts_answer(cut),
    )
    layers = (name for piece in cut.pieces for name in piece.layers)
    return report(heading, [*cut_times(cut), *cuts_figures(cut)], layers)


def throughput_page(throughput: Throughput, command: str) -> str:
    """Return the page of several instances at once, with the timeline of what was simulated."""
    heading = Heading(
        f"Throughput on {throughput.chip}",
        throughput.stack,
        command,
        (
            ("Inferences per second", figure(throughput.total.inferences_per_second)),
            *((("Limited by", limit),) if (limit := throughput.limited_by) else ()),
        ),
        (times.throughput_answer(throughput),),
    )
    figures = [times.latencies_figure(throughput), times.use_figure(throughput)]
    return report(heading, figures + ([timeline(timing)] if (timing := throughput.timing) else []))


def called(name: str, figures: Sequence[Figure]) -> list[Figure]:
    """Return the figures with a name before their titles, if there is one."""
    start = f"{name}: " if name else ""
    return [replace(figure, title=f"{start}{figure.title}") for figure in figures]


def _refused(refusals: Iterable[tuple[str, str, str]]) -> list[Figure]:
    """Return what networks are not taken by which runtimes, and why, if any."""
    table = FigureTable(("network", "runtime", "reason"), list(refusals))
    text = "Networks that a runtime does not take, and why."
    return [Figure("Refused", text, table)] if table.rows else []


def _layers(cases: Sequence[Inference]) -> dict[str, None]:
    """Return the names of all layers, each once."""
    return dict.fromkeys(layer.name for case in cases for layer in case.layers)


_OF_SEVERAL = ("Total inference", "Peak memory", "SQNR")
"""Beginnings of the names of the figures that stand on top of a page on several runtimes."""


def overview_page(overview: Overview, command: str) -> str:
    """Return the page of a model on runtimes, with the weights that are counted."""
    results, refused, model = overview.results, overview.refused, overview.model
    assert model is not None, "made here"
    first, several = results[0], len(results) > 1
    figures = []
    if several:
        figures.append(times.runtimes_figure([(case.runtime, case) for case in results]))
        figures.append(timelines({case.runtime: case.timing for case in results if case.timing}))
    figures += _refused((first.network, refusal.runtime, refusal.reason) for refusal in refused)
    for case in results:
        figures += called(case.runtime if several else "", _figures(overview, case, model.network))
    weights = histograms_figure(model)
    heading = Heading(
        f"{first.network} on {first.chip}",
        source_of(first),
        command,
        _summary(overview, several),
        tuple(_answers(overview)),
    )
    layers = dict.fromkeys(layer.name for layer in model.network.layers)
    return report(heading, [*figures, *([weights] if weights else [])], layers)


def _answers(overview: Overview) -> Iterator[str]:
    """Yield the fastest runtime, then for each runtime what takes its time and adds its noise."""
    yield from verdicts(overview.results).splitlines()
    for case in overview.results:
        prefix = f"{case.runtime}: " if len(overview.results) > 1 else ""
        yield from (prefix + sentence for sentence in most_time(case))
        if errors := overview.errors.get(case.runtime):
            yield prefix + validation.most_noise(errors.layers)


def _figures(overview: Overview, case: Inference, network: Network) -> list[Figure]:
    errors, cut = overview.errors.get(case.runtime), overview.cuts.get(case.runtime)
    figures = case_figures(case)
    figures.append(graph_figure(network, case.timing, errors.layers if errors else ()))
    figures += cuts_figures(cut) if cut else []
    figures += validation.validation_figures(errors) if errors else []
    return figures


def _summary(overview: Overview, several: bool) -> Summary:
    """Return the main figures of each runtime; with several, each begins with its runtime."""
    entries: list[tuple[str, str]] = []
    for case in overview.results:
        prefix = f"{case.runtime}: " if several else ""
        for name, value in summary(case):
            if not several or name.startswith(_OF_SEVERAL):
                entries.append((f"{prefix}{name}", value))
        if cut := overview.cuts.get(case.runtime):
            entries.append((f"{prefix}Subnets", f"{len(cut.pieces)}"))
    return tuple(entries)


def llm_page(speed: LanguageModel, command: str) -> str:
    """Return the page, with timelines if recorded; HexsimError without the library that draws."""
    figures = []
    for section in llm_sections(speed):
        rows = FigureTable(section.header, section.rows)
        drawn = Figure(section.title, section.remark, rows)
        if section.header[0] == "time":
            drawn = replace(
                drawn,
                chart=_bars(speed),
                legend=tuple(zip(SERIES, speed.token.parts_ms, strict=False)),
            )
        figures.append(drawn)
    figures.sort(key=lambda drawn: drawn.chart is None)  # the picture stands before the tables
    for name, result in (speed.timelines or {}).items():
        figures.append(replace(timeline(result), title=f"Timeline of a {name}"))
    prompt = speed.conditions.prompt
    summary = (
        ("Tokens per second", figure(speed.tokens_per_second)),
        (f"First token, prompt of {prompt}", f"{figure(speed.first_token_ms[prompt] / 1e3)} s"),
        ("Peak memory", f"{figure(speed.memory_bytes.peak / 1e9)} GB"),
        ("Energy of a token", f"{millijoules(speed.token.energy)} mJ"),
    )
    heading = Heading(llm_title(speed), "", command, summary, (llm_headline(speed) + ".",))
    return report(heading, figures)


def _bars(speed: LanguageModel) -> Chart:
    """Return the times of a token and of a block as bars, one part after the other."""
    passes = {"token": speed.token.parts_ms, "block": speed.block.parts_ms}
    colours = dict(zip(speed.token.parts_ms, SERIES, strict=False))
    rows = enumerate(passes.items())
    parts = [part for row, (name, ms) in rows for part in stacked(row, name, ms, colours)]
    tooltip = (("all", "{whole} ms"), ("of it", "{what} {amount} ms"))
    return layer_bars("ms", list(passes), parts, tooltip, row_height=_THICK)
