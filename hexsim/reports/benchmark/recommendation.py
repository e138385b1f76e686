"""The fastest runtime of a network, its rival, and how sure the order of runtimes is.

The runtimes of several chips are ranked together, and named with their chips.

Runtimes are ranked by the middles of the intervals of their times. The rival is the best runtime
on other hardware: the times of runtimes on the same hardware are wrong together. A measured time
takes precedence over a simulated one. So the recommendation never contradicts the measured values
in the table beside it. Where answers were computed, a runtime that gives mostly noise is left out.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise

from hexsim.accuracy.scores import LEAST_DB
from hexsim.reports.benchmark.measured import measured_ms
from hexsim.reports.inference.energy import REPORTED_FACTOR
from hexsim.runtimes import MAIN_ENGINE
from hexsim.studies.benchmark import Case, place_names
from hexsim.texts.figures import figure, given, span


def recommendations(cases: Sequence[Case]) -> str:
    """Return a line per network that ran on more than one runtime."""
    return "\n".join(_lines(cases))


def rank(case: Case) -> tuple[bool, float]:
    """Return the key by which the recommended of several cases is the first."""
    return _db(case) < LEAST_DB, _expected_us(case)


@dataclass(frozen=True)
class RuntimeOrder:
    """Two runtimes of a network; `first` is the faster one with the constants as stated.

    `share` (0 .. 1) is the share of draws of the constants in which that holds. `contradicted` is
    true if both were measured and the order was the other way round.
    """

    network: str
    chip: str
    first: str
    second: str
    share: float
    draws: int
    contradicted: bool = False


def orders(cases: Sequence[Case]) -> list[RuntimeOrder]:
    """Return how sure the order of each two neighbours in time is, where constants were drawn.

    Times are those of the table.
    """
    result = []
    for (network, chip), group in groupby(cases, key=lambda case: (case.network, case.chip)):
        ranked = sorted(group, key=lambda case: case.timing.total_us)
        for first, second in pairwise(ranked):
            if first.drawn and second.drawn:
                share, count = first.drawn.before(second.drawn), len(first.drawn.times)
                contradicted = _contradicted(first, second)
                order = first.runtime, second.runtime, share, count, contradicted
                result.append(RuntimeOrder(network, chip, *order))
    return result


def orders_text(cases: Sequence[Case]) -> str:
    """Return a line per network and chip that ran on several runtimes with drawn constants."""
    lines = []
    several = len({case.chip for case in cases}) > 1
    for (network, chip), group in groupby(orders(cases), key=lambda o: (o.network, o.chip)):
        where = f" on {chip}" if several else ""
        lines.append(f"{network}{where}: {', '.join(map(_order_text, group))}")
    return "\n".join(lines)


def _order_text(order: RuntimeOrder) -> str:
    text = f"{order.first} before {order.second} in {order.share:.0%} of draws"
    return f"{text} (measured the other way round)" if order.contradicted else text


def _lines(cases: Sequence[Case]) -> Iterator[str]:
    for network, group in groupby(cases, key=lambda case: case.network):
        ranked = sorted(group, key=_expected_us)
        if len(ranked) > 1:
            yield "\n  ".join(_choice(network, ranked))


def _choice(network: str, ranked: Sequence[Case]) -> Iterator[str]:
    """Yield the fastest of several cases with its rival, then what speaks against it."""
    place = place_names(ranked)
    usable = [case for case in ranked if _db(case) >= LEAST_DB]
    noisy = [case for case in ranked if case not in usable] if usable else []
    first, *others = usable or ranked
    elsewhere = [case for case in others if _hardware(case) != _hardware(first)]
    rival = next(iter(elsewhere or others), None)
    head = f"Fastest for {network}: {place(first)}, {_times(first)}"
    yield f"{head}; next {place(rival)}, {_times(rival)}" if rival else head
    doubtful = [case for case in others if _known_us(case) < _known_us(first)]
    for case in doubtful:
        times = "" if case is rival else f": {place(case)}, {_times(case)}"
        yield (
            f"{place(case)} would be faster than {place(first)} with the constants as stated, "
            f"but they are known less well{times}."
        )
    is_open = rival and rival not in doubtful and _interval_us(first)[1] > _interval_us(rival)[0]
    if is_open:
        yield f"Their intervals overlap, so {place(first)} is not surely the faster one."
    if rival and (text := _energy(first, rival, place)):
        yield text
    for case in noisy:
        if _expected_us(case) < _expected_us(first):
            yield (
                f"{place(case)}, {_times(case)} does not count: its outputs have "
                f"{figure(_db(case))} dB, under the {LEAST_DB:g} dB of an answer that can be used."
            )
    if not usable:
        yield f"The outputs of none have {LEAST_DB:g} dB, which an answer needs to be of use."


def _hardware(case: Case) -> str:
    """Return the hardware whose constants a runtime's time depends on most."""
    return MAIN_ENGINE[case.runtime]


def _db(case: Case) -> float:
    """Return the SQNR of the outputs; infinite where no answers were computed."""
    db = math.inf if case.agreement is None else case.agreement.sqnr_db
    return math.inf if math.isnan(db) else db


def _energy(first: Case, rival: Case, place: Callable[[Case], str]) -> str | None:
    """Return a sentence on the energy of two cases, if it differs by a factor."""
    less, more = sorted((first, rival), key=lambda case: case.energy.millijoules)
    factor = more.energy.millijoules / max(less.energy.millijoules, 1e-12)
    if factor < REPORTED_FACTOR:
        return None
    mj = [figure(case.energy.millijoules) for case in (more, less)]
    return (
        f"{place(more)} takes {figure(factor)} times the energy of {place(less)}: {mj[0]} and "
        f"{mj[1]} mJ."
    )


def _known_us(case: Case) -> float:
    """Return the total inference time in us: as measured (mean of a range), else as simulated."""
    times = measured_ms(case, forward=False)
    return 1e3 * sum(times) / len(times) if times else case.timing.total_us


def _interval_us(case: Case) -> tuple[float, float]:
    """Return the ends of the total time in us: as measured, else as simulated."""
    if times := measured_ms(case, forward=False):
        return 1e3 * times[0], 1e3 * times[-1]
    doubt = case.drawn or case.uncertainty
    total_us = case.timing.total_us
    return (doubt.low.total_us, doubt.high.total_us) if doubt else (total_us, total_us)


def _expected_us(case: Case) -> float:
    """Return the time by which runtimes are ranked: the middle of the interval, in logarithms.

    Ends that are each a factor of two away are as likely as each other.
    """
    if measured_ms(case, forward=False):
        return _known_us(case)
    return math.sqrt(math.prod(_interval_us(case)))


def _contradicted(first: Case, second: Case) -> bool:
    """Return whether both were measured and the second was always faster."""
    first_ms, second_ms = (measured_ms(case, forward=False) for case in (first, second))
    return bool(first_ms and second_ms) and max(second_ms) < min(first_ms)


def _times(case: Case) -> str:
    if latencies := measured_ms(case, forward=False):
        times = "-".join(given(ms) for ms in dict.fromkeys((latencies[0], latencies[-1])))
        return f"{times} ms as measured"
    low, high = _interval_us(case)
    text = f"{figure(case.timing.total_us / 1e3)} ms"
    return text if low == high else f"{text} ({span(low / 1e3, high / 1e3)})"
