"""What background clients cost the network, and what the network costs them."""

import math
from collections.abc import Sequence

from hexsim.reports.text import table
from hexsim.studies.benchmark import Case, place_names
from hexsim.studies.interference import Interference, Slowdown
from hexsim.texts.figures import figure, given, percent
from hexsim.timing.results import ClientTiming

_CLIENT_HEADER = ("client", "unit", "period ms", "jobs", "late", "skipped", "mean ms", "worst ms")
_PART_HEADER = ("part", "alone us", "beside us", "factor")
_LEAST_CHANGE = 0.005
"""Parts that change by less are not listed."""


def background_tables(cases: Sequence[Case]) -> str:
    """Return a paragraph per case that had background clients; empty if none had."""
    place = place_names(cases)
    return "\n\n".join(
        f"{case.network} on {place(case)} {_network(case.interference)}\n"
        f"{client_table(case.interference)}"
        for case in cases
        if case.interference is not None
    )


def client_table(interference: Interference) -> str:
    """Return a line per client: jobs, and latencies in ms without the network -> with it."""
    rows = [_client_row(alone, beside) for alone, beside in interference.clients]
    return table(_CLIENT_HEADER, rows, left=frozenset({0, 1}))


def slowdown_table(interference: Interference) -> str:
    """Return the layers and overheads that the clients slow down (or speed up), and the total."""
    rows = [_part_row(part) for part in interference.parts if _changed(part)]
    unchanged = len(interference.parts) - len(rows)
    rows.append(_part_row(interference.total))
    note = f"{unchanged} parts change by less than {_LEAST_CHANGE:.1%}"
    return f"{table(_PART_HEADER, rows)}\n{note}"


def _network(interference: Interference) -> str:
    total, count = interference.total, len(interference.beside.inferences)
    worst_ps = interference.worst_ps
    return (
        f"beside {', '.join(interference.names)}, {count} inferences in a row: "
        f"alone {figure(total.alone_ps / 1e9)} ms, "
        f"mean {figure(total.beside_ps / 1e9)} ms ({percent(total.factor - 1, '+')}), "
        f"worst {figure(worst_ps / 1e9)} ms ({percent(worst_ps / total.alone_ps - 1, '+')})"
    )


def _client_row(alone: ClientTiming, beside: ClientTiming) -> tuple[str, ...]:
    return (
        beside.name,
        beside.unit,
        given(beside.period_ps / 1e9),
        f"{beside.released}",
        f"{alone.missed} -> {beside.missed}",
        f"{alone.skipped} -> {beside.skipped}",
        f"{figure(alone.mean_ps / 1e9)} -> {figure(beside.mean_ps / 1e9)}",
        f"{figure(alone.worst_ps / 1e9)} -> {figure(beside.worst_ps / 1e9)}",
    )


def _part_row(part: Slowdown) -> tuple[str, str, str, str]:
    factor = figure(part.factor) if math.isfinite(part.factor) else "new"
    return part.name, figure(part.alone_ps / 1e6), figure(part.beside_ps / 1e6), factor


def _changed(part: Slowdown) -> bool:
    return abs(part.beside_ps - part.alone_ps) > _LEAST_CHANGE * part.alone_ps
