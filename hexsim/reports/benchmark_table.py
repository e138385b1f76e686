"""The benchmark table: per network, one column per runtime, measured values in brackets."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import groupby

from hexsim.accuracy.agreement import Agreement
from hexsim.datasheets.measurements import Measurement
from hexsim.reports.energy_facts import millijoules
from hexsim.reports.measured import is_outside, measured
from hexsim.reports.summary import fell_back, summary
from hexsim.reports.text import number, table
from hexsim.studies.benchmark import SEEDED, Case, Refusal
from hexsim.studies.uncertainty import Scope, Uncertainty
from hexsim.timing.simtime import PS_PER_MS

_SWEPT: dict[Scope, str] = {
    "everything": "x .. y: the time lies in between with a chance of about nine in ten, for "
    "what is not known of assumed and calibrated constants; shares are of the squared width.",
    "tensor engine": "x .. y: the time lies in between with a chance of about nine in ten, for "
    "what is not known of the HTA, of whose inside nothing is published, and of handing subnets to "
    "it; --uncertainty one sweeps the other constants too; shares are of the squared width.",
}
_DRAWN = (
    "9 in 10 draws: 5th and 95th percentile of {} of all assumed and calibrated constants at "
    "once, the same for every network and runtime."
)
_ENERGY = (
    "energy (low .. high): by constants that are mostly assumed, all at their lower and all at "
    "their upper ends at once; times as simulated."
)
_MIB = 2**20
_CUT = ("dsp", "aip")
"""Runtimes whose networks may be cut, so that a line tells what runs where."""
_WORTH_TELLING = 0.005
"""Of an interval, what rounds to a percent."""
_DOMINANT = 3
"""Constants named as those that matter most."""


def benchmark_tables(cases: Sequence[Case]) -> str:
    """Return one table per network, all cases of a network being neighbours."""
    texts = []
    for _, group in groupby(cases, key=lambda case: case.network):
        texts.append(network_table(list(group)))
    return "\n\n".join(texts)


def footnotes(cases: Sequence[Case], refusals: Sequence[Refusal] = ()) -> str:
    """Return what a reader of the tables has to know, only as far as it applies to them."""
    notes = [
        f"{refusal.network} on {refusal.runtime} is left out: {refusal.reason}."
        for refusal in refusals
    ]
    notes += [*_on_times(cases), *_on_agreement(cases), *_on_loading(cases), *_on_costs(cases)]
    return "\n".join(dict.fromkeys(notes))


def _on_times(cases: Sequence[Case]) -> Iterator[str]:
    if any(measured(c, forward=f) for c in cases for f in (False, True)):
        yield "[x]: measured on the device; its sources are in measured_latency.csv."
    yield from (_SWEPT[case.uncertainty.scope] for case in cases if case.uncertainty)
    yield from (
        _DRAWN.format(number(len(case.drawn.times), "draw")) for case in cases if case.drawn
    )
    if cases:
        yield _ENERGY
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
        yield f"Agreement is that of the outputs (before a final softmax) on {evaluated}."
    if any(case.builtin for case in compared):
        yield "Weights of built-in networks are made up (seeded)."
    for case in compared:
        if case.agreement and not case.agreement.classes:
            yield f"{case.network} scores no classes, so it has no top-1."
    on_seeded = [case for case in cases if case.agreement and case.evaluated == SEEDED]
    if any(case.given == "quantised file" for case in on_seeded):
        yield (
            "Encodings of a quantised file suit the inputs it was calibrated on, not these seeded "
            "ones; compare on yours with hexsim validate --input-list."
        )


def _on_loading(cases: Sequence[Case]) -> Iterator[str]:
    here = [case for case in cases if case.given == "quantised here"]
    for evaluated in dict.fromkeys(case.evaluated for case in here):
        on = dict.fromkeys(case.runtime for case in here if case.evaluated == evaluated)
        yield (
            f"Quantised first, on {evaluated}, for {', '.join(on)}, which "
            f"{'takes' if len(on) == 1 else 'take'} no float networks."
        )
    for case in cases:
        if case.overrides is not None:
            yield f"{case.network}, when quantised: {case.overrides}."


def _on_costs(cases: Sequence[Case]) -> Iterator[str]:
    if any(case.runtime == "aip" and not case.timing.uses_hta for case in cases):
        yield "aip runs on HVX alone, as it does for files without HTA sections."
    if any(case.interference for case in cases):
        yield (
            "Tables of networks are those without clients. Tables of clients: without the network "
            "-> with it; late: jobs that ended after their deadline."
        )
    for case in cases:
        generic: dict[str, list[str]] = {}
        for layer in case.timing.layers:
            if layer.cost_model in ("generic", "none"):
                generic.setdefault(layer.type, []).append(layer.name)
        if generic:
            named = (f"{kind} ({', '.join(names)})" for kind, names in generic.items())
            yield (
                f"{case.network} on {case.runtime}: no kernel model, only the generic cost of "
                f"bytes and operations: {', '.join(named)}."
            )


def network_table(cases: Sequence[Case]) -> str:
    """Return the table of one network, of which `cases` are."""
    first = cases[0]
    where = f"{first.chip}, {first.software}, {first.perf_profile}, {first.buffer} buffers"
    header = ("", *(case.runtime for case in cases))
    rows = [("initialisation (ms)", *(f"{c.timing.init_ps / PS_PER_MS:.2f}" for c in cases))]
    for name, forward in (("total inference (ms)", False), ("forward propagate (ms)", True)):
        rows.append((name, *(_time(case, forward=forward) for case in cases)))
        if any(case.uncertainty for case in cases):
            rows.append(("  between", *(_interval(case, forward=forward) for case in cases)))
        if any(case.drawn for case in cases):
            rows.append(("  9 in 10 draws", *(_drawn(case, forward=forward) for case in cases)))
    rows.append(("energy (mJ)", *(millijoules(c.energy.estimate) for c in cases)))
    rows.append(("peak memory (MiB)", *(f"{c.memory.peak_bytes / _MIB:.2f}" for c in cases)))
    if any(case.agreement for case in cases):
        rows.append(("SQNR against float (dB)", *(_sqnr(case.agreement) for case in cases)))
    if any(case.agreement and case.agreement.classes for case in cases):
        rows += [
            ("same top-1 as float", *(_top1(case.agreement) for case in cases)),
            ("top-1 margin kept", *(_margin(case.agreement) for case in cases)),
        ]
    lines = [summary(case) for case in cases if fell_back(case)]
    lines += [f"{first.network} on {where}", table(header, rows)]
    lines += [summary(case) for case in cases if case.runtime in _CUT and not fell_back(case)]
    lines += [_dominant(case, case.uncertainty) for case in cases if case.uncertainty]
    return "\n".join(lines)


def _time(case: Case, *, forward: bool) -> str:
    text = f"{(case.timing.forward_us if forward else case.timing.total_us) / 1e3:.2f}"
    rows = measured(case, forward=forward)
    known = "-".join(f"{row.latency_ms:g}{_mark(case, row)}" for row in rows)
    return f"{text} [{known}]" if known else text


def _mark(case: Case, row: Measurement) -> str:
    return "!" if case.uncertainty and is_outside(row, case.uncertainty) else ""


def _interval(case: Case, *, forward: bool) -> str:
    if case.uncertainty is None:
        return ""
    ends = (case.uncertainty.low, case.uncertainty.high)
    return " .. ".join(f"{(t.forward_us if forward else t.total_us) / 1e3:.2f}" for t in ends)


def _drawn(case: Case, *, forward: bool) -> str:
    if case.drawn is None:
        return ""
    ends = (case.drawn.low, case.drawn.high)
    return " .. ".join(f"{(t.forward_us if forward else t.total_us) / 1e3:.2f}" for t in ends)


def _dominant(case: Case, found: Uncertainty) -> str:
    """Say which constants the interval mostly comes from."""
    most = zip(found.swings[:_DOMINANT], found.shares, strict=False)
    parts = [f"{swing.path} {share:.0%}" for swing, share in most if share >= _WORTH_TELLING]
    return f"{case.runtime}'s interval comes most from {', '.join(parts)}" if parts else ""


def _sqnr(match: Agreement | None) -> str:
    if match is None:
        return ""
    return "exact" if math.isinf(match.sqnr_db) else f"{match.sqnr_db:.1f}"


def _top1(match: Agreement | None) -> str:
    return f"{match.top1}/{match.inputs}" if match else ""


def _margin(match: Agreement | None) -> str:
    return f"{match.margin_ratio:.0%}" if match and math.isfinite(match.margin_ratio) else ""
