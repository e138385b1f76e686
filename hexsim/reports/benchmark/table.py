"""The benchmark table: per network, one column per runtime, measured values in brackets."""

import math
from collections.abc import Iterator, Sequence
from itertools import groupby

from hexsim.accuracy.agreement import Agreement
from hexsim.accuracy.scores import sqnr_label
from hexsim.datasheets.measurements import Measurement
from hexsim.datasheets.measurements.answers import FAULT
from hexsim.reports.benchmark.measured import is_outside, measured, measured_outcome
from hexsim.reports.benchmark.summary import fell_back, processor_lines, summary
from hexsim.reports.fitting import short_name
from hexsim.reports.inference.memory import mebibytes
from hexsim.reports.text import number, table
from hexsim.runtimes import MAIN_ENGINE
from hexsim.studies.benchmark import SEEDED, Case, Refusal, place_names
from hexsim.studies.draws import FEW, DrawnTimes
from hexsim.studies.uncertainty import Scope, Uncertainty
from hexsim.texts.figures import decibels, figure, given, span
from hexsim.timing.simtime import PS_PER_MS

_BETWEEN: dict[Scope, str] = {
    "everything": "x .. y: the time lies in between with a chance of about nine in ten, for "
    "what is not known of assumed and calibrated constants; shares are of the squared width.",
    "a few draws": f"x .. y: the time lies in between with a chance of about nine in ten, by {FEW} "
    "draws of all assumed and calibrated constants at once; --uncertainty one shows which of them "
    "matter.",
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
    "NEON and dot products, peaks of the GPU), not measured; --uncertainty one gives intervals."
)
_OUTCOMES = (
    "[right], [wrong]: answers of the trained network on the device (?: inferred), from "
    "measured_answers.csv; made-up weights judge nothing, so the two need not be alike."
)
_MIB = 2**20
_CUT = ("dsp", "aip")
"""Runtimes whose networks may be cut, so that a line states what runs where."""
_WORTH_TELLING = 0.005
"""Shares of an interval below this are not shown: they round to 0 %."""
_DOMINANT = 3
"""The number of constants that are named as the most important."""


def benchmark_tables(cases: Sequence[Case]) -> str:
    """Return a table for each network on each chip, whose cases are neighbours."""
    groups = groupby(cases, key=lambda case: (case.network, case.chip))
    return "\n\n".join(network_table(list(group)) for _, group in groups)


def footnotes(cases: Sequence[Case], refusals: Sequence[Refusal] = ()) -> str:
    """Return the notes that explain the tables, without those that apply to no case."""
    place = place_names([*cases, *refusals])
    notes = [
        f"{refusal.network} on {place(refusal)} is left out: {refusal.reason}."
        for refusal in refusals
    ]
    notes += [*_on_times(cases), *_on_agreement(cases), *_on_loading(cases), *_on_costs(cases)]
    return "\n".join(dict.fromkeys(notes))


def _on_times(cases: Sequence[Case]) -> Iterator[str]:
    if any(measured(c, forward=f) for c in cases for f in (False, True)):
        yield "[x]: measured on the device; its sources are in measured_latency.csv."
    yield from (_BETWEEN[case.uncertainty.scope] for case in cases if case.uncertainty)
    yield from (
        _DRAWN.format(number(len(case.drawn.times), "draw")) for case in cases if case.drawn
    )
    if cases:
        yield _ENERGY
    if any(case.memory.process for case in cases):
        yield _MEMORY
    if any(MAIN_ENGINE[case.runtime] == "htp" for case in cases) and any(
        MAIN_ENGINE[case.runtime] in ("cpu", "gpu")
        or any(layer.engine == "cpu" for layer in case.timing.layers)
        for case in cases
    ):
        yield _PUBLIC
    if any(
        _mark(case, row)
        for case in cases
        for f in (False, True)
        for row in measured(case, forward=f)
    ):
        yield "[x!]: measured outside that interval, so a cause is missing or a bound is wrong."


def _on_agreement(cases: Sequence[Case]) -> Iterator[str]:
    compared = [case for case in cases if case.agreement]
    for evaluated in dict.fromkeys(case.evaluated for case in compared):
        yield (
            f"Agreement with float is that on {evaluated}; the outputs are compared before a final "
            "softmax."
        )
    if any(case.builtin for case in compared):
        yield (
            "Weights of built-in networks are made up (seeded): agreement on them ranks no "
            "networks, such as the quantisation-friendly MobileNet and the plain one. Trained ones "
            "are in docs/results/equalisation.md and accuracy.md."
        )
    if any(_outcome(case) for case in compared):
        yield _OUTCOMES
    for case in compared:
        if case.agreement and not case.agreement.classes:
            yield f"{case.network} scores no classes, so it has no top-1."
    for network in dict.fromkeys(c.network for c in compared if c.reference != "float network"):
        yield (
            f"Float, for {network}, is the quantised file with its weights dequantised; hexsim "
            "validate --float compares with the original."
        )
    on_seeded = [case for case in cases if case.agreement and case.evaluated == SEEDED]
    if any(case.given == "quantised file" for case in on_seeded):
        yield (
            "Encodings of a quantised file suit the inputs it was calibrated on, not these seeded "
            "ones; compare on yours with hexsim validate --input-list."
        )


def _on_loading(cases: Sequence[Case]) -> Iterator[str]:
    quantised_here = [case for case in cases if case.given == "quantised here"]
    for calibrated in dict.fromkeys(case.calibrated for case in quantised_here):
        runtimes = dict.fromkeys(
            case.runtime for case in quantised_here if case.calibrated == calibrated
        )
        how = "without ranges, which change no time" if calibrated is None else f"on {calibrated}"
        yield (
            f"Quantised first, {how}, for {', '.join(runtimes)}, which "
            f"{'takes' if len(runtimes) == 1 else 'take'} no float networks."
        )
    at_load = (case for case in cases if case.given == "float" and case.calibrated != SEEDED)
    for calibrated in dict.fromkeys(case.calibrated for case in at_load if case.calibrated):
        yield f"Quantised at load on {calibrated}."
    place = place_names(cases)
    for case in cases:
        if case.overrides is not None:
            yield f"{case.network}, when quantised: {case.overrides}."
        if case.graph_note is not None:
            yield f"{case.network} on {place(case)}: {case.graph_note}."


def _on_costs(cases: Sequence[Case]) -> Iterator[str]:
    on_aip = [case for case in cases if case.runtime == "aip" and case.hta_choice is None]
    if any(not case.timing.uses_hta for case in on_aip):
        yield "aip runs on HVX alone, as it does for files without HTA sections."
    if any(case.interference for case in cases):
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


def _generic(case: Case) -> str:
    """Return the types of the layers that have no kernel model, with the layers."""
    generic: dict[str, list[str]] = {}
    for layer in case.timing.layers:
        if layer.cost_model in ("generic", "none"):
            generic.setdefault(layer.type, []).append(short_name(layer.name))
    return ", ".join(f"{kind} ({', '.join(names)})" for kind, names in generic.items())


def network_table(cases: Sequence[Case]) -> str:
    """Return the table of one network on one chip; `cases` are all of them."""
    first = cases[0]
    where = f"{first.chip}, {first.software}, {first.perf_profile}, {first.buffer} buffers"
    header = ("", *(case.runtime for case in cases))
    rows = [("initialisation (ms)", *(figure(c.timing.init_ps / PS_PER_MS) for c in cases))]
    for name, forward in (("total inference (ms)", False), ("forward propagate (ms)", True)):
        rows.append((name, *(_time(case, forward=forward) for case in cases)))
        if any(case.uncertainty for case in cases):
            rows.append(("  between", *(_between(c.uncertainty, forward=forward) for c in cases)))
        if any(case.drawn for case in cases):
            rows.append(("  9 in 10 draws", *(_between(c.drawn, forward=forward) for c in cases)))
    energies = [case.energy.estimate for case in cases]
    rows.append(("energy (mJ)", *(figure(energy.value) for energy in energies)))
    rows.append(("  low .. high", *(span(energy.low, energy.high) for energy in energies)))
    rows.append(("peak memory (MiB)", *(figure(c.memory.peak_bytes / _MIB) for c in cases)))
    if any(case.memory.process for case in cases):
        processes = (case.memory.process for case in cases)
        rows.append(("  of its process", *(mebibytes(size) if size else "" for size in processes)))
    if any(case.agreement for case in cases):
        rows.append(
            (
                f"{sqnr_label(first.reference)} (dB)",
                *(decibels(c.agreement.sqnr_db) if c.agreement else "" for c in cases),
            )
        )
    if first.agreement and first.agreement.right is not None:
        title = f"right top-1 (float: {first.agreement.float_right}/{first.agreement.inputs})"
        rows.append((title, *(_right(case.agreement) for case in cases)))
    if any(case.agreement and case.agreement.classes for case in cases):
        rows += [
            (_top1_title(first), *(_top1(case) for case in cases)),
            ("top-1 margin kept", *(_margin(case.agreement) for case in cases)),
        ]
    lines = [summary(case) for case in cases if fell_back(case)]
    lines += [f"{first.network} on {where}", table(header, rows)]
    lines += [summary(case) for case in cases if case.runtime in _CUT and not fell_back(case)]
    lines += [line for case in cases for line in processor_lines(case)]
    causes = (_dominant(case, case.uncertainty) for case in cases if case.uncertainty)
    lines += filter(None, causes)
    return "\n".join(lines)


def _time(case: Case, *, forward: bool) -> str:
    text = figure((case.timing.forward_us if forward else case.timing.total_us) / 1e3)
    rows = measured(case, forward=forward)
    on_device = "-".join(f"{given(row.latency_ms)}{_mark(case, row)}" for row in rows)
    row = measured_outcome(case)
    if row and row.outcome == FAULT:
        on_device = str(row)
    return f"{text} [{on_device}]" if on_device else text


def _outcome(case: Case) -> str:
    """Return what the device answered, if its program did not crash."""
    row = measured_outcome(case)
    return f"[{row}]" if row and row.outcome != FAULT else ""


def _mark(case: Case, row: Measurement) -> str:
    return "!" if case.uncertainty and is_outside(row, case.uncertainty) else ""


def _between(doubt: Uncertainty | DrawnTimes | None, *, forward: bool) -> str:
    if doubt is None:
        return ""
    ends = (times.forward_us if forward else times.total_us for times in (doubt.low, doubt.high))
    return span(*(us / 1e3 for us in ends))


def _dominant(case: Case, uncertainty: Uncertainty) -> str:
    """Name the constants that contribute most to the interval."""
    ranked = zip(uncertainty.sensitivities[:_DOMINANT], uncertainty.shares, strict=False)
    parts = [
        f"{sensitivity.path} {share:.0%}"
        for sensitivity, share in ranked
        if share >= _WORTH_TELLING
    ]
    return f"{case.runtime}'s interval comes most from {', '.join(parts)}" if parts else ""


def _top1_title(case: Case) -> str:
    """Return the name of the row, which says where weights are made up beside trained ones."""
    return "same top-1, made-up weights" if case.builtin else "same top-1 as float"


def _top1(case: Case) -> str:
    agreement = case.agreement
    return f"{agreement.top1}/{agreement.inputs} {_outcome(case)}".strip() if agreement else ""


def _right(agreement: Agreement | None) -> str:
    return f"{agreement.right}/{agreement.inputs}" if agreement else ""


def _margin(agreement: Agreement | None) -> str:
    return (
        f"{agreement.margin_ratio:.0%}"
        if agreement and math.isfinite(agreement.margin_ratio)
        else ""
    )
