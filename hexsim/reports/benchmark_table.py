"""The benchmark table: per network, one column per runtime, measured values in brackets."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import groupby

from hexsim.accuracy.agreement import Agreement
from hexsim.benchmark import Case
from hexsim.reports.measured import measured_ms
from hexsim.reports.text import table
from hexsim.simtime import PS_PER_MS


def benchmark_tables(cases: Sequence[Case]) -> str:
    """Return one table per network, all cases of a network being neighbours."""
    texts = []
    for _, group in groupby(cases, key=lambda case: case.network):
        texts.append(_network_table(list(group)))
    return "\n\n".join(texts)


def footnotes(cases: Sequence[Case]) -> str:
    """Return what a reader of the tables has to know, only as far as it applies to them."""
    notes = []
    if any(measured_ms(c, forward=f) for c in cases for f in (False, True)):
        notes.append("[x]: measured on the device; its sources are in measured_latency.csv.")
    if any(case.agreement for case in cases):
        notes.append(
            "Agreement is of class scores (before a final softmax) on seeded inputs; built-in "
            "networks have synthetic (seeded) weights."
        )
    if any(case.runtime == "aip" for case in cases):
        notes.append("aip runs on HVX alone, as it does for files without HTA sections.")
    for case in cases:
        generic = [la.name for la in case.timing.layers if la.cost_model in ("generic", "none")]
        if generic:
            notes.append(
                f"{case.network} on {case.runtime}: no kernel model, only the generic cost of "
                f"bytes and operations: {', '.join(generic)}."
            )
    return "\n".join(dict.fromkeys(notes))


def _network_table(cases: list[Case]) -> str:
    first = cases[0]
    title = f"{first.network} on {first.chip}, {first.stack}, {first.perf_profile}"
    header = ("", *(case.runtime for case in cases))
    rows = [
        ("initialisation (ms)", *(f"{c.timing.init_ps / PS_PER_MS:.2f}" for c in cases)),
        ("total inference (ms)", *(_time(c, forward=False) for c in cases)),
        (
            "forward propagate (ms)",
            *(_time(c, forward=True) for c in cases),
        ),
    ]
    if any(case.agreement for case in cases):
        rows += [
            ("SQNR against float (dB)", *(_sqnr(case.agreement) for case in cases)),
            ("same top-1 as float", *(_top1(case.agreement) for case in cases)),
            ("top-1 margin kept", *(_margin(case.agreement) for case in cases)),
        ]
    return f"{title}\n{table(header, rows)}"


def _time(case: Case, *, forward: bool) -> str:
    text = f"{(case.timing.forward_us if forward else case.timing.total_us) / 1e3:.2f}"
    measured = measured_ms(case, forward=forward)
    return f"{text} [{'-'.join(f'{ms:g}' for ms in measured)}]" if measured else text


def _sqnr(match: Agreement | None) -> str:
    if match is None:
        return ""
    return "exact" if math.isinf(match.sqnr_db) else f"{match.sqnr_db:.1f}"


def _top1(match: Agreement | None) -> str:
    return f"{match.top1}/{match.inputs}" if match else ""


def _margin(match: Agreement | None) -> str:
    return f"{match.margin_ratio:.0%}" if match and math.isfinite(match.margin_ratio) else ""
