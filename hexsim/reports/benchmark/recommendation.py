"""The fastest runtime of a network, its rival, and how sure the order of runtimes is.

The runtimes of several chips are ranked together, and named with their chips.

Runtimes are ranked by the middles of the intervals of their times. The rival is the best runtime
on other hardware: the times of runtimes on the same hardware are wrong together. A measured time
takes precedence over a simulated one. So the recommendation never contradicts the measured values
in the table beside it. Where answers were computed, a runtime that gives mostly noise is left out.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from itertools import groupby

from hexsim.accuracy.output_errors import judged_db
from hexsim.accuracy.scores import LEAST_DB
from hexsim.reports.inference.energy import REPORTED_FACTOR
from hexsim.results.benchmark import Inference, RuntimeOrder, place_names
from hexsim.runtimes import MAIN_ENGINE
from hexsim.texts.figures import figure, given, span


def recommendations(cases: Sequence[Inference]) -> str:
    """Return a line per network that ran on more than one runtime."""
    return "\n".join(_lines(cases))


def rank(case: Inference) -> tuple[bool, float]:
    """Return the key by which the recommended of several cases is the first."""
    return _db(case) < LEAST_DB, _expected_us(case)


def orders_text(orders: Sequence[RuntimeOrder]) -> str:
    """Return a line per network and chip that ran on several runtimes with drawn constants."""
    lines = []
    several = len({order.chip for order in orders}) > 1
    for (network, chip), group in groupby(orders, key=lambda o: (o.network, o.chip)):
        where = f" on {chip}" if several else ""
        lines.append(f"{network}{where}: {', '.join(map(_order_text, group))}")
    return "\n".join(lines)


def _order_text(order: RuntimeOrder) -> str:
    text = f"{order.first} before {order.second} in {order.share:.0%} of draws"
    return f"{text} (measured the other way round)" if order.contradicted else text


def _lines(cases: Sequence[Inference]) -> Iterator[str]:
    for network, group in groupby(cases, key=lambda case: case.network):
        ranked = sorted(group, key=_expected_us)
        if len(ranked) > 1:
            yield "\n  ".join(_choice(network, ranked))


def _choice(network: str, ranked: Sequence[Inference]) -> Iterator[str]:
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


def _hardware(case: Inference) -> str:
    """Return the hardware whose constants a runtime's time depends on most."""
    return MAIN_ENGINE[case.runtime]


def _db(case: Inference) -> float:
    """Return the SQNR by which outputs are judged; infinite where none were computed."""
    accuracy = case.accuracy
    return math.inf if accuracy is None else judged_db(accuracy.sqnr_db, accuracy.outputs)


def _energy(first: Inference, rival: Inference, place: Callable[[Inference], str]) -> str | None:
    """Return a sentence on the energy of two cases, if it differs by a factor."""
    less, more = sorted((first, rival), key=lambda case: case.energy.mj)
    factor = more.energy.mj / max(less.energy.mj, 1e-12)
    if factor < REPORTED_FACTOR:
        return None
    mj = [figure(case.energy.mj) for case in (more, less)]
    return (
        f"{place(more)} takes {figure(factor)} times the energy of {place(less)}: {mj[0]} and "
        f"{mj[1]} mJ."
    )


def _known_us(case: Inference) -> float:
    """Return the total inference time in us: as measured (mean of a range), else as simulated."""
    times = case.measured_ms.total_inference
    return 1e3 * sum(times) / len(times) if times else case.total_inference_us


def _interval_us(case: Inference) -> tuple[float, float]:
    """Return the ends of the total time in us: as measured, else as simulated."""
    if times := case.measured_ms.total_inference:
        return 1e3 * times[0], 1e3 * times[-1]
    return case.interval_us or (case.total_inference_us, case.total_inference_us)


def _expected_us(case: Inference) -> float:
    """Return the time by which runtimes are ranked: the middle of the interval, in logarithms.

    Ends that are each a factor of two away are as likely as each other.
    """
    if case.measured_ms.total_inference:
        return _known_us(case)
    return math.sqrt(math.prod(_interval_us(case)))


def _times(case: Inference) -> str:
    if latencies := case.measured_ms.total_inference:
        times = "-".join(given(ms) for ms in dict.fromkeys((latencies[0], latencies[-1])))
        return f"{times} ms as measured"
    low, high = _interval_us(case)
    text = f"{figure(case.total_ms)} ms"
    return text if low == high else f"{text} ({span(low / 1e3, high / 1e3)})"
