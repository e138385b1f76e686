"""What background clients cost the network, and what the network costs them."""

from collections.abc import Sequence

from hexsim.reports.text import table
from hexsim.results.benchmark import Inference, place_names
from hexsim.results.costs import ClientCost, Interference, Slowdown
from hexsim.texts.figures import figure, given, percent

_CLIENT_HEADER = ("client", "unit", "period ms", "jobs", "late", "skipped", "mean ms", "worst ms")
_PART_HEADER = ("part", "alone us", "beside us", "factor")
_LEAST_CHANGE = 0.005
"""Parts that change by less are not listed."""


def background_tables(cases: Sequence[Inference]) -> str:
    """Return a paragraph per case that had background clients; empty if none had."""
    place = place_names(cases)
    return "\n\n".join(
        f"{case.network} on {place(case)} {_network(case.background)}\n"
        f"{client_table(case.background)}"
        for case in cases
        if case.background is not None
    )


def client_table(interference: Interference) -> str:
    """Return a line per client: jobs, and latencies in ms without the network -> with it."""
    rows = [_client_row(client) for client in interference.clients]
    return table(_CLIENT_HEADER, rows, left=frozenset({0, 1}))


def slowdown_table(interference: Interference) -> str:
    """Return the layers and overheads that the clients slow down (or speed up), and the total."""
    rows = [_part_row(name, part) for name, part in interference.parts.items() if _changed(part)]
    unchanged = len(interference.parts) - len(rows)
    rows.append(_part_row("total inference", interference))
    note = f"{unchanged} parts change by less than {_LEAST_CHANGE:.1%}"
    return f"{table(_PART_HEADER, rows)}\n{note}"


def _network(interference: Interference) -> str:
    alone_us, mean_us = interference.alone_us, interference.mean_us
    worst_us = interference.worst_us
    return (
        f"beside {', '.join(interference.loads)}, {interference.inferences} inferences in a row: "
        f"alone {figure(alone_us / 1e3)} ms, "
        f"mean {figure(mean_us / 1e3)} ms ({percent(mean_us / alone_us - 1, '+')}), "
        f"worst {figure(worst_us / 1e3)} ms ({percent(worst_us / alone_us - 1, '+')})"
    )


def _client_row(client: ClientCost) -> tuple[str, ...]:
    alone, beside = client.alone, client.beside
    return (
        client.name,
        client.unit,
        given(client.period_us / 1e3),
        f"{client.jobs}",
        f"{alone.missed} -> {beside.missed}",
        f"{alone.skipped} -> {beside.skipped}",
        f"{figure(alone.mean_us / 1e3)} -> {figure(beside.mean_us / 1e3)}",
        f"{figure(alone.worst_us / 1e3)} -> {figure(beside.worst_us / 1e3)}",
    )


def _part_row(name: str, part: Slowdown) -> tuple[str, str, str, str]:
    factor = figure(part.mean_us / part.alone_us) if part.alone_us else "new"
    return name, figure(part.alone_us), figure(part.mean_us), factor


def _changed(part: Slowdown) -> bool:
    return abs(part.mean_us - part.alone_us) > _LEAST_CHANGE * part.alone_us
