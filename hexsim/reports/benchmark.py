"""A benchmark as a table: per network one column per runtime, with measured values in brackets.

As CSV it has the row names of snpe_bench.
"""

from collections.abc import Iterator, Sequence
from itertools import groupby
from operator import attrgetter

from hexsim.errors import spelled
from hexsim.models import TRAINED
from hexsim.reports.inference import background_tables, mebibytes
from hexsim.reports.summary import (
    fell_back,
    first_of,
    one_sided,
    orders_text,
    processor_lines,
    recommendations,
    summary,
    verdict,
)
from hexsim.reports.text import error_lines, number, short_names, table
from hexsim.results.accuracy import Accuracy, each_output, sqnr_label
from hexsim.results.benchmark import Benchmark, Inference, place_names
from hexsim.results.costs import Draws, Figures, Footprint, Interval, LayerCost, Millijoule, Swept
from hexsim.runtimes import MAIN_ENGINE
from hexsim.studies.benchmark import SEEDED
from hexsim.studies.row_names import IN_CSV
from hexsim.studies.uncertainty import FEW
from hexsim.texts.csv_text import csv_text
from hexsim.texts.fields import Part, fields
from hexsim.texts.figures import decibels, figure, given, span

_BETWEEN: dict[Swept, str] = {
    "everything": "x .. y: the time lies in between with a chance of about nine in ten, by "
    f"{FEW} draws of all assumed and calibrated constants at once; shares are of the squared width "
    "that constants moved one by one add up to.",
    "a few draws": f"x .. y: the time lies in between with a chance of about nine in ten, by {FEW} "
    "draws of all assumed and calibrated constants at once; {one} shows which of them matter.",
}
_DRAWN = (
    "9 in 10 draws: 5th and 95th percentile of {} of all assumed and calibrated constants at "
    "once, the same for every network and runtime."
)
_ENERGY = (
    "energy, low .. high: by constants that are mostly assumed, all at their lower and all at "
    "their upper ends at once; times as simulated."
)
_MEMORY = (
    "of its process (low .. high): on Android, with libraries and records of layers, by two "
    "constants at their lower and at their upper ends; of other runtimes it is not known."
)
_PUBLIC = (
    "cpu, gpu: for chips with a tensor processor by assumed public constants alone (cores, clocks, "
    "NEON and dot products, peaks of the GPU), not measured."
)
_OUTCOMES = (
    "On the device, trained: published answers of the trained network (?: inferred), from "
    "measured_answers.csv; made-up weights judge nothing, so agreement need not be alike."
)
_TIMES = ("total_inference", "forward_propagate")
_CUT = ("dsp", "aip")
"""Runtimes whose networks may be cut, so that a line states what runs where."""
_WORTH_TELLING = 0.005
"""Shares of an interval below this are not shown: they round to 0 %."""
_DOMINANT = 3
"""The number of constants that are named as the most important."""


def benchmark_tables(cases: Sequence[Inference], *, left_out: bool = False) -> str:
    """Return a table for each network on each chip, whose cases are neighbours.

    With `left_out` they have the times of a fit without the measured rows of the chip.
    """
    groups = groupby(cases, key=lambda case: (case.network, case.chip))
    return "\n\n".join(network_table(list(group), left_out=left_out) for _, group in groups)


def benchmark_text(
    benchmark: Benchmark, *, left_out: bool = False, by_measured: bool = False
) -> str:
    """Return the verdict over all chips, the tables, and what concerns all networks.

    `left_out` as in `benchmark_tables`. With `by_measured`, times measured on the device take the
    place of simulated ones in ranks.
    """
    advice = recommendations(benchmark.results, by_measured=by_measured)
    tables = benchmark_tables(benchmark.results, left_out=left_out)
    return "\n\n".join(filter(None, (advice, tables, rest_text(benchmark))))


def rest_text(benchmark: Benchmark) -> str:
    """Return the parts of the report about all networks, which stand below their tables."""
    parts = (orders_text(benchmark.orders), background_tables(benchmark.results))
    return "\n\n".join(filter(None, (*parts, footnotes(benchmark))))


def footnotes(benchmark: Benchmark) -> str:
    """Return the notes that explain the tables, without those that apply to no case."""
    cases, refusals = benchmark.results, benchmark.refused
    place = place_names([*cases, *refusals])
    notes = [
        f"{refusal.network} on {place(refusal)} is left out: {refusal.reason}."
        for refusal in refusals
    ]
    notes += [*_on_times(cases), *_on_agreement(cases), *_on_loading(cases), *_on_costs(cases)]
    return "\n".join(dict.fromkeys(notes))


def _on_times(cases: Sequence[Inference]) -> Iterator[str]:
    if any(_known(case.measured_ms) for case in cases):
        yield "[x]: measured on the device; its sources are in measured_latency.csv."
    yield from (
        _BETWEEN[case.uncertainty.swept].format(one=spelled("uncertainty", "one"))
        for case in cases
        if case.uncertainty
    )
    yield from (_DRAWN.format(number(case.draws.count, "draw")) for case in cases if case.draws)
    yield from one_sided(cases)
    if cases:
        yield _ENERGY
    if any(case.memory.process for case in cases):
        yield _MEMORY
    if any(MAIN_ENGINE[case.runtime] == "htp" for case in cases) and any(
        MAIN_ENGINE[case.runtime] in ("cpu", "gpu")
        or any(layer.engine == "cpu" for layer in case.layers)
        for case in cases
    ):
        yield _PUBLIC
    if any(_known(case.uncertainty.measured_outside_ms) for case in cases if case.uncertainty):
        yield "[x!]: measured outside that interval, so a cause is missing or a bound is wrong."


def _on_agreement(cases: Sequence[Inference]) -> Iterator[str]:
    compared = [(case, case.accuracy) for case in cases if case.accuracy is not None]
    for evaluated in dict.fromkeys(accuracy.compared_on for _, accuracy in compared):
        yield (
            f"Agreement with float is that on {evaluated}; the outputs are compared before a final "
            "softmax."
        )
    if any(case.builtin and a.top1_right is None for case, a in compared):
        yield (
            "Weights of built-in networks are made up (seeded): agreement on them ranks no "
            "networks, such as the quantisation-friendly MobileNet and the plain one. Trained are "
            f"{' and '.join(TRAINED)}; see docs/results/equalisation.md and accuracy.md."
        )
    if any(case.measured_outcome for case in cases):
        yield _OUTCOMES
    for case, accuracy in compared:
        if accuracy.top1_agreement is None:
            yield f"{case.network} scores no classes, so it has no top-1."
    against_file = (c.network for c, a in compared if a.sqnr_reference != "float network")
    for network in dict.fromkeys(against_file):
        yield (
            f"Float, for {network}, is the quantised file with its weights dequantised; hexsim "
            f"validate {spelled('float_model')} compares with the original."
        )
    on_seeded = (case for case, accuracy in compared if accuracy.compared_on == SEEDED)
    if any(case.given == "quantised file" for case in on_seeded):
        yield (
            "Encodings of a quantised file suit the inputs it was calibrated on, not these seeded "
            f"ones; compare on yours, with {spelled('input_list')} of hexsim validate."
        )


def _on_loading(cases: Sequence[Inference]) -> Iterator[str]:
    quantised_here = [case for case in cases if case.given == "quantised here"]
    for calibrated in dict.fromkeys(case.calibrated_on for case in quantised_here):
        runtimes = dict.fromkeys(
            case.runtime for case in quantised_here if case.calibrated_on == calibrated
        )
        how = "without ranges, which change no time" if calibrated is None else f"on {calibrated}"
        yield (
            f"Quantised first, {how}, for {', '.join(runtimes)}, which "
            f"{'takes' if len(runtimes) == 1 else 'take'} no float networks."
        )
    at_load = (case for case in cases if case.given == "float" and case.calibrated_on)
    for calibrated in dict.fromkeys(case.calibrated_on or "" for case in at_load):
        if not calibrated.endswith(SEEDED):
            yield f"Quantised at load on {calibrated}."
    place = place_names(cases)
    for case in cases:
        if case.overrides is not None:
            yield f"{case.network}, when quantised: {case.overrides}."
        if case.graph_note is not None:
            yield f"{case.network} on {place(case)}: {case.graph_note}."


_OUTSIDE = 0.3
"""Share of a call from which its time outside the forward pass is explained."""


def _on_the_cpu_runtime(cases: Sequence[Inference]) -> Iterator[str]:
    """Say what is known of the time that a CPU runtime adds, where it is much of a call."""
    parts = {
        case.runtime: part.us
        for case in cases
        for part in case.overheads
        if part.name == "cpu_runtime" and part.us > _OUTSIDE * case.total_inference_us
    }
    times = ", ".join(f"{figure(us / 1e3)} ms of {runtime}" for runtime, us in parts.items())
    if parts:
        yield (
            f"{times} are outside the forward pass (cpu_runtime), as published for five networks "
            "with inputs of about one size: whether each call takes it or each element of the "
            "input is not known, so a small network may be that much faster."
        )


def _on_costs(cases: Sequence[Inference]) -> Iterator[str]:
    yield from _on_the_cpu_runtime(cases)
    on_aip = [case for case in cases if case.runtime == "aip" and case.hta_choice is None]
    if any(all(layer.engine != "hta" for layer in case.layers) for case in on_aip):
        yield "aip runs on HVX alone, as it does for files without HTA sections."
    if any(case.background for case in cases):
        yield (
            "Tables of networks are those without clients. Tables of clients: without the network "
            "-> with it; late: jobs that ended after their deadline."
        )
    place, places = place_names(cases), dict[tuple[str, str], list[str]]()
    for case in cases:
        if types := _generic(case):
            places.setdefault((case.network, types), []).append(place(case))
    for (network, types), names in places.items():
        yield (
            f"{network} on {', '.join(names)}: no kernel model, only the generic cost of "
            f"bytes and operations: {types}."
        )


def _generic(case: Inference) -> str:
    """Return the types of the layers that have no kernel model, with the layers."""
    generic: dict[str, list[str]] = {}
    for layer in case.layers:
        if layer.cost_model in ("generic", "none"):
            generic.setdefault(layer.type, []).append(layer.name)
    kinds = ((kind, first_of(short_names(names))) for kind, names in generic.items())
    return ", ".join(f"{kind} ({names})" for kind, names in kinds)


def network_table(cases: Sequence[Inference], *, left_out: bool = False) -> str:
    """Return the table of one network on one chip; `cases` are all of them.

    `left_out` as in `benchmark_tables`.
    """
    first = cases[0]
    where = f"{first.chip}, {first.software}, {first.perf_profile}, {first.buffer} buffers"
    header = ("", *(case.runtime for case in cases))
    rows = [*_declared(cases, Inference), *_ends(cases, "initialisation")]
    for name in _TIMES:
        rows.append((f"{name.replace('_', ' ')} (ms)", *(_time(case, name) for case in cases)))
        if left_out:
            rows.append(("  chip left out", *(_left_out(case, name) for case in cases)))
        rows += _ends(cases, name)
    energies = [case.energy for case in cases]
    rows.append(("energy (mJ)", *(figure(energy.mj) for energy in energies)))
    rows.append(("  low .. high", *(span(energy.mj_low, energy.mj_high) for energy in energies)))
    memories = [case.memory for case in cases]
    rows += _declared(memories, Footprint)
    if any(memory.process for memory in memories):
        processes = (memory.process for memory in memories)
        rows.append(("  of its process", *(mebibytes(size) if size else "" for size in processes)))
    rows += _on_accuracy(first, [case.accuracy for case in cases])
    lines = [f"{answer}\n"] if (answer := verdict(cases)) else []
    lines += [summary(case) for case in cases if fell_back(case)]
    lines += [
        f"{first.network} on {where}{_fitted(cases)}",
        *error_lines({c.runtime: c.expected_error for c in cases if c.expected_error}),
        table(header, rows),
        *_on_device(cases),
    ]
    lines += [summary(case) for case in cases if case.runtime in _CUT and not fell_back(case)]
    lines += [line for case in cases for line in processor_lines(case)]
    lines += _outputs(cases)
    causes = (_dominant(case, case.uncertainty) for case in cases if case.uncertainty)
    lines += filter(None, causes)
    return "\n".join(lines)


def _fitted(cases: Sequence[Inference]) -> str:
    """Return what a reader of measured times has to know first, where there are any."""
    if not any(_known(case.measured_ms) for case in cases):
        return ""
    return "; times are simulated, by constants that were fitted to published ones, these [x] too"


def _on_device(cases: Sequence[Inference]) -> Iterator[str]:
    """Yield a table of what devices answered with trained weights, if that was published."""
    if outcomes := [case for case in cases if case.measured_outcome]:
        header = ("on the device, trained", *(case.runtime for case in outcomes))
        yield "\n" + table(header, [("answers", *(f"{c.measured_outcome}" for c in outcomes))])


def _declared(parts: Sequence[Part], kind: type[Part]) -> Iterator[tuple[str, ...]]:
    """Yield a row for each field that is declared to have one."""
    for field in fields(kind).values():
        if field.row:
            yield field.heading, *(field.text(getattr(part, field.name)) for part in parts)


def _on_accuracy(
    first: Inference, accuracies: Sequence[Accuracy | None]
) -> Iterator[tuple[str, ...]]:
    """Yield the rows on the agreement with float; none without any."""
    compared = next(filter(None, accuracies), None)
    if compared is None:
        return
    label = f"{sqnr_label(compared.sqnr_reference)} (dB)"
    yield label, *(decibels(a.sqnr_db) if a and a.outputs else "" for a in accuracies)
    if compared.top1_right is not None:
        title = f"right top-1 (float: {compared.float_top1_right}/{compared.inputs})"
        yield title, *(f"{a.top1_right}/{a.inputs}" if a else "" for a in accuracies)
    if any(a and a.top1_agreement is not None for a in accuracies):
        counts = (f"{a.top1_agreement}/{a.inputs}" if a else "" for a in accuracies)
        yield _top1_title(first), *counts
        ratios = (a.top1_margin_ratio if a else None for a in accuracies)
        yield "top-1 margin kept", *("" if ratio is None else f"{ratio:.0%}" for ratio in ratios)


def _outputs(cases: Sequence[Inference]) -> Iterator[str]:
    """Yield the SQNR of each output, once for runtimes with the same noise."""
    runtimes = dict[str, list[str]]()
    for case in cases:
        if case.accuracy:
            runtimes.setdefault(each_output(case.accuracy.outputs), []).append(case.runtime)
    return (f"{', '.join(names)}: {text}" for text, names in runtimes.items() if text)


def _known(times: Figures) -> bool:
    return bool(times.total_inference or times.forward_propagate)


def _left_out(case: Inference, name: str) -> str:
    """Return the time of a fit without the chip; a dash where no other chip has such rows."""
    times = getattr(case.left_out_ms, name)
    return figure(times[0]) if times else "-" if getattr(case.measured_ms, name) else ""


def _time(case: Inference, name: str) -> str:
    text, doubt = figure(getattr(case, f"{name}_us") / 1e3), case.uncertainty
    outside = getattr(doubt.measured_outside_ms, name) if doubt else ()
    marked = (
        f"{given(ms)}{'!' if ms in outside else ''}" for ms in getattr(case.measured_ms, name)
    )
    on_device = "-".join(marked)
    return f"{text} [{on_device}]" if on_device else text


def _ends(cases: Sequence[Inference], name: str) -> Iterator[tuple[str, ...]]:
    """Yield the rows below a time: its interval, and that of draws."""
    if any(case.uncertainty for case in cases):
        yield "  between", *(_between(case.uncertainty, name) for case in cases)
    if any(case.draws for case in cases):
        yield "  9 in 10 draws", *(_between(case.draws, name) for case in cases)


def _between(doubt: Interval | Draws | None, name: str) -> str:
    ends = getattr(doubt, f"{name}_us", None)
    return span(*(us / 1e3 for us in ends)) if ends else ""


def _dominant(case: Inference, interval: Interval) -> str:
    """Name the constants that contribute most to the interval."""
    parts = [
        f"{effect.constant} {effect.share:.0%}"
        for effect in interval.constants[:_DOMINANT]
        if effect.share >= _WORTH_TELLING
    ]
    return f"{case.runtime}'s interval comes most from {', '.join(parts)}" if parts else ""


def _top1_title(case: Inference) -> str:
    """Return the name of the row, which says where weights are made up beside trained ones."""
    trained = case.accuracy is not None and case.accuracy.top1_right is not None
    return "same top-1, made-up weights" if case.builtin and not trained else "same top-1 as float"


_CASE = ("network", "chip", "stack", "runtime", "perf_profile")
HEADER = (*_CASE, *("row", "engine", "us", "us_low", "us_high", "bytes", "mj", "mj_low", "mj_high"))


def benchmark_csv(benchmark: Benchmark) -> str:
    """Return a benchmark as CSV text; times in microseconds.

    The rows are those of snpe_bench.py (`hexsim.studies.row_names`): initialisation, inference,
    then `layer_000 (Name:data Type:data)` and so on, numbered as snpe-dlc-info numbers layers, with
    the inputs of the network first. `us_low` and `us_high` are the bounds of the uncertainty
    interval and empty without one. `bytes` is the peak of memory in the row of the total, and the
    live activations in rows of layers. `mj`, `mj_low` and `mj_high` are the energy of the total and
    of layers.
    """
    which = attrgetter(*_CASE)
    rows = ((*which(case), *row) for case in benchmark.results for row in _rows(case))
    return csv_text(HEADER, rows)


def _rows(case: Inference) -> Iterator[tuple[str, ...]]:
    doubt = case.uncertainty
    bounds = {
        "Total Inference Time": doubt.total_inference_us if doubt else (),
        "Forward Propagate Time": doubt.forward_propagate_us if doubt else (),
    }
    for name, us in case.snpe_rows.items():
        ends = [f"{end:.3f}" for end in bounds.get(name, ())] or ["", ""]
        is_total = name == "Total Inference Time"
        peak = f"{case.memory.peak_bytes}" if is_total else ""
        energy_cells = _mj(case.energy if is_total else None)
        yield IN_CSV.get(name, name), "", f"{us:.3f}", *ends, peak, *energy_cells
    live = {layer.name: f"{layer.live_bytes}" for layer in case.memory.layers}
    for index, name in enumerate(case.inputs):
        yield f"layer_{index:03d} (Name:{name} Type:data)", "", "0.000", "", "", "", *_mj(None)
    for index, layer in enumerate(case.layers, len(case.inputs)):
        yield _layer_row(index, layer, live.get(layer.name, ""))


def _layer_row(index: int, layer: LayerCost, live: str) -> tuple[str, ...]:
    row = f"layer_{index:03d} (Name:{layer.name} Type:{layer.type})"
    return row, layer.engine, f"{layer.us:.3f}", "", "", live, *_mj(layer)


def _mj(energy: Millijoule | LayerCost | None) -> tuple[str, str, str]:
    if energy is None:
        return "", "", ""
    return f"{energy.mj:.6f}", f"{energy.mj_low:.6f}", f"{energy.mj_high:.6f}"
