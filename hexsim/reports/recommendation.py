"""Which runtime is the fastest for a network, with which cut, and how sure their order is.

Runtimes are compared by what is known of them: where a time was measured that is the time, and a
simulated one that says otherwise counts for nothing. So no runtime is named on a figure that the
table beside it contradicts.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise

from hexsim.reports.measured import measured_ms
from hexsim.studies.benchmark import Case
from hexsim.studies.cuts import Found


def recommendations(cases: Sequence[Case]) -> str:
    """Return a line per network that ran on more than one runtime."""
    return "\n".join(_lines(cases))


@dataclass(frozen=True)
class RuntimeOrder:
    """Two runtimes of a network, the one that is faster as constants are stated first.

    `share` (0 .. 1) is in how many draws of the constants that holds. `contradicted` tells that
    both were measured, in the other order.
    """

    network: str
    first: str
    second: str
    share: float
    draws: int
    contradicted: bool = False


def orders(cases: Sequence[Case]) -> list[RuntimeOrder]:
    """Return how sure the order of each two neighbours in time is, where constants were drawn.

    Times are those of the table, without what another cut would save.
    """
    found = []
    for network, group in groupby(cases, key=lambda case: case.network):
        ranked = sorted(group, key=lambda case: case.timing.total_us)
        for one, next_one in pairwise(ranked):
            if one.drawn and next_one.drawn:
                share, count = one.drawn.before(next_one.drawn), len(one.drawn.times)
                against = _contradicted(one, next_one)
                found.append(
                    RuntimeOrder(network, one.runtime, next_one.runtime, share, count, against)
                )
    return found


def orders_text(cases: Sequence[Case]) -> str:
    """Return a line per network that ran on several runtimes with drawn constants."""
    lines = []
    for network, group in groupby(orders(cases), key=lambda order: order.network):
        lines.append(f"{network}: {', '.join(map(_told, group))}")
    return "\n".join(lines)


def _told(order: RuntimeOrder) -> str:
    text = f"{order.first} before {order.second} in {order.share:.0%} of draws"
    return f"{text} (measured the other way round)" if order.contradicted else text


def _lines(cases: Sequence[Case]) -> Iterator[str]:
    for network, group in groupby(cases, key=lambda case: case.network):
        ranked = sorted(group, key=known_us)
        if len(ranked) > 1:
            first, second = ranked[:2]
            yield f"Fastest for {network}: {_described(first)}; next {_described(second)}"


def known_us(case: Case) -> float:
    """Total inference time as it was measured, the middle of a range, or else as simulated."""
    ends = measured_ms(case, forward=False)
    return 1e3 * sum(ends) / len(ends) if ends else case.fastest_us


def _contradicted(first: Case, second: Case) -> bool:
    """True if both were measured, and the second was never the slower one."""
    one, other = (measured_ms(case, forward=False) for case in (first, second))
    return bool(one and other) and max(other) < min(one)


def _described(case: Case) -> str:
    if ends := measured_ms(case, forward=False):
        times = "-".join(f"{end:g}" for end in dict.fromkeys((ends[0], ends[-1])))
        return f"{case.runtime}, {times} ms as measured"
    text = f"{case.runtime}, {case.fastest_us / 1e3:.2f} ms"
    if case.cut is None:
        return text
    sections = case.cut.best_ids
    where = f"with HTA sections {sections}" if sections else "without HTA sections"
    return f"{case.runtime} {where}, {case.fastest_us / 1e3:.2f} ms ({_gain(case.cut)})"


def _gain(cut: Found) -> str:
    """What the cut gains over that of the compiler, if it is another one."""
    if cut.best == cut.default:
        return "the default cut"
    return f"{cut.gain:.2f}x the default cut's speed, {cut.low:.2f} to {cut.high:.2f}x"
