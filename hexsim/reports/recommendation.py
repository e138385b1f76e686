"""The fastest runtime of a network, its cut, and how sure the order of runtimes is.

A measured time takes precedence over a simulated one. So the recommendation never contradicts the
measured values in the table beside it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise

from hexsim.reports.measured import measured_ms
from hexsim.studies.benchmark import Case
from hexsim.studies.cuts import FastestCut


def recommendations(cases: Sequence[Case]) -> str:
    """Return a line per network that ran on more than one runtime."""
    return "\n".join(_lines(cases))


@dataclass(frozen=True)
class RuntimeOrder:
    """Two runtimes of a network; `first` is the faster one with the constants as stated.

    `share` (0 .. 1) is the share of draws of the constants in which that holds. `contradicted` is
    true if both were measured and the order was the other way round.
    """

    network: str
    first: str
    second: str
    share: float
    draws: int
    contradicted: bool = False


def orders(cases: Sequence[Case]) -> list[RuntimeOrder]:
    """Return how sure the order of each two neighbours in time is, where constants were drawn.

    Times are those of the table, without the gain of another cut.
    """
    result = []
    for network, group in groupby(cases, key=lambda case: case.network):
        ranked = sorted(group, key=lambda case: case.timing.total_us)
        for first, second in pairwise(ranked):
            if first.drawn and second.drawn:
                share, count = first.drawn.before(second.drawn), len(first.drawn.times)
                contradicted = _contradicted(first, second)
                result.append(
                    RuntimeOrder(network, first.runtime, second.runtime, share, count, contradicted)
                )
    return result


def orders_text(cases: Sequence[Case]) -> str:
    """Return a line per network that ran on several runtimes with drawn constants."""
    lines = []
    for network, group in groupby(orders(cases), key=lambda order: order.network):
        lines.append(f"{network}: {', '.join(map(_order_text, group))}")
    return "\n".join(lines)


def _order_text(order: RuntimeOrder) -> str:
    text = f"{order.first} before {order.second} in {order.share:.0%} of draws"
    return f"{text} (measured the other way round)" if order.contradicted else text


def _lines(cases: Sequence[Case]) -> Iterator[str]:
    for network, group in groupby(cases, key=lambda case: case.network):
        ranked = sorted(group, key=known_us)
        if len(ranked) > 1:
            first, second = ranked[:2]
            yield f"Fastest for {network}: {_described(first)}; next {_described(second)}"


def known_us(case: Case) -> float:
    """Return the total inference time in us: as measured (mean of a range), else as simulated."""
    times = measured_ms(case, forward=False)
    return 1e3 * sum(times) / len(times) if times else case.fastest_us


def _contradicted(first: Case, second: Case) -> bool:
    """Return whether both were measured and the second was always faster."""
    first_ms, second_ms = (measured_ms(case, forward=False) for case in (first, second))
    return bool(first_ms and second_ms) and max(second_ms) < min(first_ms)


def _described(case: Case) -> str:
    if latencies := measured_ms(case, forward=False):
        times = "-".join(f"{ms:g}" for ms in dict.fromkeys((latencies[0], latencies[-1])))
        return f"{case.runtime}, {times} ms as measured"
    text = f"{case.runtime}, {case.fastest_us / 1e3:.2f} ms"
    if case.cut is None:
        return text
    sections = case.cut.best_ids
    where = f"with HTA sections {sections}" if sections else "without HTA sections"
    return f"{case.runtime} {where}, {case.fastest_us / 1e3:.2f} ms ({_gain(case.cut)})"


def _gain(cut: FastestCut) -> str:
    """Return the gain of the cut over that of the compiler, if they differ."""
    if cut.best == cut.default:
        return "the default cut"
    return f"{cut.gain:.2f}x the default cut's speed, {cut.low:.2f} to {cut.high:.2f}x"
